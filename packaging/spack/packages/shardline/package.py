# Copyright the shardline authors. BSD-3-Clause.
#
# Builds the checkout that this file is in, from its top folder: as committed,
#
#   spack repo add packaging/spack
#   spack install shardline ^openmpi ^openblas
#
# or as it stands, spack dev-build shardline@main. MPI and BLAS are the site's choice: ^mpich, ^intel-oneapi-mkl, ^blis.

import os

from spack.package import *


class Shardline(CMakePackage):
    """Measures where a sharded matrix multiply stops waiting for the network."""

    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("gnuplot", default=True, description="Figures in reports")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("blas")
    depends_on("hdf5")
    depends_on("hwloc")
    depends_on("fmt@9:")
    depends_on("tomlplusplus@3.3:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.10:")
    depends_on("gnuplot", type="run", when="+gnuplot")

    # C++20
    conflicts("%gcc@:10")
    conflicts("%clang@:13")

    generator("ninja")

    def cmake_args(self):
        blas = self.spec["blas"]
        return [
            self.define("SHARDLINE_TESTS", False),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("BLAS_LIBRARIES", ";".join(blas.libs.libraries)),
            self.define("BLAS_ROOT", blas.prefix),
        ]

#include "record/stored_file.hpp"

#include "model/error.hpp"
#include "record/datatypes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardline::hdf5 {
namespace {

using schema::Type;

[[noreturn]] void refuse(const std::string& path, std::string_view why, std::string_view suggestion)
{
    throw InputError(fmt::format("cannot read {} ({}): {}", path, why, suggestion));
}

constexpr const char* name_a_run = "name a file that shardline-run wrote";

std::string_view remedy_for_reading(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG: return "check the path";
    case EACCES:
    case EPERM: return "change its permissions";
    case ENOLCK:
    case ENOSYS:
    case EAGAIN: return "set HDF5_USE_FILE_LOCKING=FALSE in the environment, or copy the file to a local disk";
    default: return "check the disk";
    }
}

struct Descriptor {
    explicit Descriptor(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (number >= 0) ::close(number);
    }
    int number;
};

/// Bytes of the file that are not holes; all of them where the file system does not tell.
uint64_t bytes_without_holes(int descriptor, off_t size)
{
    uint64_t bytes = 0;
    for (off_t at = 0; at < size;) {
        const off_t begin = ::lseek(descriptor, at, SEEK_DATA);
        if (begin < 0) return errno == ENXIO ? bytes : static_cast<uint64_t>(size);
        const off_t end = ::lseek(descriptor, begin, SEEK_HOLE);
        if (end <= begin) return static_cast<uint64_t>(size);
        bytes += static_cast<uint64_t>(end - begin);
        at = end;
    }
    return bytes;
}

bool blames_flags(const Failure& failure)
{
    return std::string_view(failure.what()).find("already open") != std::string_view::npos;
}

/// Opens a sound file; failing that, one that a run is writing or was killed over.
Handle open_file(const std::string& path)
{
    const auto properties = access_properties();
    Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, properties.get()), H5Fclose);
    if (file) return file;
    const auto first = last_failure("");
    file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, properties.get()), H5Fclose);
    if (file) return file;
    const auto second = last_failure("");
    const Failure& reason = blames_flags(first) && !blames_flags(second) ? second : first;
    if (reason.error_number != 0) refuse(path, reason.what(), remedy_for_reading(reason.error_number));
    if (blames_flags(reason))
        refuse(path, "another program writes it, or was killed over it", "wait, or repair it with h5clear -s");
    const bool truncated = std::string_view(reason.what()).starts_with("truncated");
    refuse(path, reason.what(), truncated ? "copy it again from where it was written" : "it is damaged");
}

/// Links are followed within the file only.
void require_hard_link(hid_t parent, const char* name, const std::string& path)
{
    H5L_info_t link{};
    if (H5Lget_info(parent, name, &link, H5P_DEFAULT) < 0) reject(path, "missing");
    if (link.type != H5L_TYPE_HARD) reject(path, "a link to elsewhere");
}

bool is_one_of(hid_t type, std::initializer_list<hid_t> types)
{
    return std::any_of(types.begin(), types.end(), [&](hid_t known) { return H5Tequal(type, known) > 0; });
}

bool is_fixed_text(hid_t type) { return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0; }

bool is_one_byte(hid_t type)
{
    if (H5Tget_class(type) != H5T_ENUM) return is_one_of(type, {H5T_STD_I8LE, H5T_STD_U8LE});
    const Handle base(H5Tget_super(type), H5Tclose);
    return base && is_one_of(base.get(), {H5T_STD_I8LE, H5T_STD_U8LE});
}

/// Nothing is converted but the order of bytes.
bool is_stored_as(hid_t type, Type wanted)
{
    switch (wanted) {
    case Type::int32: return is_one_of(type, {H5T_STD_I32LE, H5T_STD_I32BE});
    case Type::int64: return is_one_of(type, {H5T_STD_I64LE, H5T_STD_I64BE});
    case Type::float64: return is_one_of(type, {H5T_IEEE_F64LE, H5T_IEEE_F64BE});
    case Type::text: return is_fixed_text(type);
    default: return is_one_byte(type);
    }
}

const char* describe(Type type)
{
    switch (type) {
    case Type::int32: return "int32";
    case Type::int64: return "int64";
    case Type::float64: return "float64";
    case Type::text: return "text of fixed length";
    default: return "an enumeration of one byte";
    }
}

const char* describe(Shape shape)
{
    switch (shape) {
    case Shape::scalar: return "a scalar";
    case Shape::rows: return "one value for each row";
    case Shape::rows_by_rank: return "one value for each row and rank, or rank that is kept";
    }
    return "";
}

/// Others would have HDF5 load a plug-in because a file says so.
bool is_known_filter(H5Z_filter_t filter)
{
    return filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32;
}

bool has_known_filters_only(hid_t properties)
{
    const int filters = H5Pget_nfilters(properties);
    for (int i = 0; i < filters; ++i) {
        unsigned flags = 0, configuration = 0;
        size_t values = 0;
        const auto filter =
            H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &configuration);
        if (!is_known_filter(filter)) return false;
    }
    return true;
}

/// Whether one chunk, which HDF5 may hold in memory whole, has at most so many bytes.
bool chunks_fit(hid_t properties, size_t cell_bytes, uint64_t bytes)
{
    hsize_t lengths[2] = {1, 1};
    if (H5Pget_layout(properties) != H5D_CHUNKED) return true;
    if (H5Pget_chunk(properties, 2, lengths) < 0 || lengths[0] == 0 || lengths[1] == 0) return false;
    return lengths[0] <= bytes / cell_bytes / lengths[1];
}

/// The attribute, known to be a scalar.
Handle open_attribute(hid_t object, const char* name)
{
    auto attribute = own(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, name);
    const auto space = own(H5Aget_space(attribute.get()), H5Sclose, name);
    if (H5Sget_simple_extent_npoints(space.get()) != 1) reject(name, "not a single value");
    return attribute;
}

} // namespace

void reject(const std::string& object, std::string_view why) { throw Failure(fmt::format("{}: {}", object, why), 0); }

uint64_t believable_bytes(const std::string& path)
{
    constexpr uint64_t compression = 16, small_file = 64u << 20;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return small_file;
    const Descriptor descriptor(path);
    return small_file + (descriptor.number < 0 ? 0 : compression * bytes_without_holes(descriptor.number, status.st_size));
}

StoredFile::StoredFile(const std::string& path)
{
    // HDF5 would wait for the other end of a pipe, and read a device for ever.
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        refuse(path, std::generic_category().message(errno), remedy_for_reading(errno));
    if (S_ISDIR(status.st_mode)) refuse(path, "it is a folder", name_a_run);
    if (!S_ISREG(status.st_mode)) refuse(path, "it is a device or pipe", name_a_run);
    if (status.st_size == 0) refuse(path, "it is empty", name_a_run);
    const Descriptor descriptor(path);
    if (descriptor.number < 0) refuse(path, std::generic_category().message(errno), remedy_for_reading(errno));
    if (H5Fis_hdf5(path.c_str()) <= 0) refuse(path, "it is not an HDF5 file", name_a_run);

    size_ = static_cast<uint64_t>(status.st_size);
    believable_ = left_ = hdf5::believable_bytes(path);
    file_ = open_file(path);
}

void StoredFile::take(uint64_t values, uint64_t bytes_each, const std::string& object)
{
    if (bytes_each != 0 && values > left_ / bytes_each)
        reject(object, fmt::format("claims {} values, more than the file can hold", values));
    left_ -= values * bytes_each;
}

StoredGroup::StoredGroup(StoredFile& file, const char* name) : file_(&file), path_(fmt::format("/{}", name))
{
    require_hard_link(file.get(), name, path_);
    group_ = own(H5Gopen2(file.get(), name, H5P_DEFAULT), H5Gclose, path_);
}

bool StoredGroup::holds(const char* name) const { return H5Lexists(group_.get(), name, H5P_DEFAULT) > 0; }

StoredColumn::StoredColumn(const StoredGroup& group, const schema::Column& column, Shape shape, hsize_t width)
    : file_(&group.file()), path_(fmt::format("{}/{}", group.path(), column.name)), shape_(shape)
{
    require_hard_link(group.get(), column.name, path_);
    dataset_ = own(H5Dopen2(group.get(), column.name, H5P_DEFAULT), H5Dclose, path_);
    require_type(column.type);
    require_own_storage(); // before the extent, for which HDF5 would open the files behind a virtual dataset
    require_shape(shape, width);
}

void StoredColumn::require_type(Type wanted)
{
    const auto type = own(H5Dget_type(dataset_.get()), H5Tclose, path_);
    if (!is_stored_as(type.get(), wanted)) reject(path_, fmt::format("not {}", describe(wanted)));
    cell_bytes_ = hdf5::cell_bytes(wanted, H5Tget_size(type.get()));
    if (cell_bytes_ == 0) reject(path_, "texts of no length");
    const bool as_stored = wanted == Type::text || enumeration_size(wanted) != 0;
    memory_type_ = as_stored ? own(H5Tcopy(type.get()), H5Tclose, path_) : memory_type(wanted, 0);
}

void StoredColumn::require_own_storage()
{
    const auto properties = own(H5Dget_create_plist(dataset_.get()), H5Pclose, path_);
    const auto layout = H5Pget_layout(properties.get());
    if ((layout != H5D_CHUNKED && layout != H5D_CONTIGUOUS && layout != H5D_COMPACT)
        || H5Pget_external_count(properties.get()) != 0)
        reject(path_, "its values are in other files");
    filtered_ = H5Pget_nfilters(properties.get()) != 0;
    if (!has_known_filters_only(properties.get())) reject(path_, "stored through a filter that is not known here");
    if (!chunks_fit(properties.get(), cell_bytes_, file_->believable_bytes()))
        reject(path_, "its chunks are larger than the file");
}

void StoredColumn::require_shape(Shape shape, hsize_t width)
{
    const auto space = own(H5Dget_space(dataset_.get()), H5Sclose, path_);
    const int dimensions = H5Sget_simple_extent_ndims(space.get());
    hsize_t lengths[H5S_MAX_RANK] = {1, 1};
    const bool readable = H5Sget_simple_extent_type(space.get()) != H5S_NULL && dimensions >= 0
        && H5Sget_simple_extent_dims(space.get(), lengths, nullptr) >= 0;
    rows_ = dimensions > 0 ? lengths[0] : 1;
    width_ = dimensions > 1 ? lengths[1] : 1;
    const bool right = readable && dimensions == static_cast<int>(shape) && (shape != Shape::rows_by_rank || width == any_width || width_ == width);
    if (!right) reject(path_, fmt::format("not {}", describe(shape)));
}

/// HDF5 could tell the bytes of a chunked dataset, but counts for ever where its index is forged.
void StoredColumn::require_bytes_of(hsize_t rows) const
{
    if (rows > rows_) reject(path_, fmt::format("has {} rows where {} were committed", rows_, rows));
    const uint64_t most = filtered_ ? file_->believable_bytes() : file_->size();
    if (rows > most / cell_bytes_ / width_) reject(path_, fmt::format("claims {} rows, more than the file holds", rows));
}

void StoredColumn::read(hsize_t rows, void* cells) const
{
    if (rows == 0) return;
    require_bytes_of(rows);
    const auto in_file = own(H5Dget_space(dataset_.get()), H5Sclose, path_);
    const hsize_t start[] = {0, 0}, count[] = {rows, width_};
    if (shape_ != Shape::scalar)
        check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start, nullptr, count, nullptr), path_);
    const auto in_memory = own(H5Screate_simple(std::max(1, static_cast<int>(shape_)), count, nullptr), H5Sclose, path_);
    check(H5Dread(dataset_.get(), memory_type_.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, cells), path_);
}

std::string text_attribute(StoredFile& file, hid_t object, const char* name)
{
    const auto attribute = open_attribute(object, name);
    const auto type = own(H5Aget_type(attribute.get()), H5Tclose, name);
    if (!is_fixed_text(type.get())) reject(name, "not a text of fixed length (in h5py: numpy.bytes_)");
    std::string text;
    file.take(1, H5Tget_size(type.get()), name);
    text.resize(H5Tget_size(type.get()));
    check(H5Aread(attribute.get(), type.get(), text.data()), name);
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
}

int32_t number_attribute(hid_t object, const char* name)
{
    const auto attribute = open_attribute(object, name);
    const auto type = own(H5Aget_type(attribute.get()), H5Tclose, name);
    if (!is_stored_as(type.get(), Type::int32)) reject(name, "not int32");
    int32_t value = 0;
    check(H5Aread(attribute.get(), H5T_NATIVE_INT32, &value), name);
    return value;
}

bool has_attribute(hid_t object, const char* name) { return H5Aexists(object, name) > 0; }

namespace {

/// Carries the visit, and what it threw, through HDF5's C loop.
struct AttributeVisit {
    const std::function<void(const char*)>& visit;
    size_t left;
    std::exception_ptr thrown;
};

herr_t visit_attribute(hid_t, const char* name, const H5A_info_t*, void* data)
{
    auto& visit = *static_cast<AttributeVisit*>(data);
    try {
        if (visit.left-- == 0) throw Failure("too many attributes", 0);
        visit.visit(name);
        return 0;
    } catch (...) {
        visit.thrown = std::current_exception();
        return -1;
    }
}

bool knows_order_of_attributes(hid_t group)
{
    const Handle properties(H5Gget_create_plist(group), H5Pclose);
    unsigned order = 0;
    return properties && H5Pget_attr_creation_order(properties.get(), &order) >= 0 && (order & H5P_CRT_ORDER_TRACKED) != 0;
}

} // namespace

void for_each_attribute(const StoredGroup& group, size_t most, const std::function<void(const char*)>& visit)
{
    AttributeVisit data{visit, most, nullptr};
    const auto order = knows_order_of_attributes(group.get()) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    const herr_t status = H5Aiterate2(group.get(), order, H5_ITER_INC, nullptr, visit_attribute, &data);
    if (data.thrown) std::rethrow_exception(data.thrown);
    check(status, group.path());
}

} // namespace shardline::hdf5

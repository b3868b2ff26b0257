"""docs/schema and docs/json.md against what shardline prints: every key of one is in the others."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(77)

DOCS = os.path.join(os.environ["SHARDLINE_SOURCE"], "docs")
SHARDLINE = os.path.join(os.environ["SHARDLINE_BIN"], "shardline")
MAKE_FILE = os.path.join(os.environ["SHARDLINE_BIN"], "make_synthetic_file")
D = "D=1600,2400,3200,4800,6400,9600,12800"


def schema_of(name):
    with open(os.path.join(DOCS, "schema", name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def output_of(*arguments):
    result = subprocess.run([SHARDLINE, *arguments], capture_output=True, text=True)
    if result.returncode == 2:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


def resolved(schema, root):
    return root["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def keys_in_schema(schema, root, path=""):
    """Paths of all keys that a schema names: "points[].t_comp_s"."""
    schema = resolved(schema, root)
    for key, its in schema.get("properties", {}).items():
        yield path + key
        yield from keys_in_schema(its, root, path + key + ".")
    if "items" in schema:
        yield from keys_in_schema(schema["items"], root, path.rstrip(".") + "[].")
    for choice in schema.get("oneOf", []):
        yield from keys_in_schema(choice, root, path)


def keys_in_output(value, schema, root, path=""):
    """The same of an output. Objects whose names are free (provenance) end it."""
    schema = resolved(schema, root)
    for choice in schema.get("oneOf", []):
        if resolved(choice, root).get("type") == "object":
            schema = resolved(choice, root)
    if isinstance(value, dict) and "additionalProperties" not in schema:
        for key, its in value.items():
            yield path + key
            yield from keys_in_output(its, schema.get("properties", {}).get(key, {}), root, path + key + ".")
    if isinstance(value, list):
        for item in value:
            yield from keys_in_output(item, schema.get("items", {}), root, path.rstrip(".") + "[].")


class Schemas(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_file(self, name, *knobs):
        path = os.path.join(self.folder.name, name)
        subprocess.run([MAKE_FILE, path, *knobs], check=True)
        return path

    def check(self, name, outputs):
        schema = schema_of(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        found = set()
        for output in outputs:
            jsonschema.Draft202012Validator(schema).validate(output)
            found.update(keys_in_output(output, schema, schema))
        self.assertEqual(found, set(keys_in_schema(schema, schema)))

    def test_report(self):
        full = self.run_file("full.h5", D, "strategies=mpi_allreduce:0,pipelined_thread:0.9,slower:-0.5", "finding=something", "host=\xe9\x1b")
        outputs = [output_of("report", full, "--json", "-")]
        for name, *knobs in (("one.h5", D), ("single.h5", "P=1"), ("outside.h5", "D=2,4,8"), ("running.h5", D, "status=running"),
                             ("few.h5", D, "passes=1", "repetitions=2"), ("uncalibrated.h5", D, "calibrated=0"),
                             ("sizes.h5", "Bs=64,256", "alpha=1e-3"), ("ranks.h5", "Ps=2,3,4"), ("types.h5", "wires=f32,f64,bf16")):
            outputs.append(output_of("report", self.run_file(name, *knobs), "--json", "-"))
        for name, *knobs in (("links.h5", "measure=links", "P=6", "ranks_on_host=2", "slow_rank=2"), ("even.h5", "measure=links"),
                             ("allreduce.h5", "measure=allreduce", "P=4"), ("roofline.h5", "measure=roofline")):
            outputs.append(output_of("report", self.run_file(name, *knobs), "--json", "-"))
        self.assertTrue(outputs[0]["overlap"] and outputs[0]["advice"] and outputs[0]["findings"] and outputs[0]["allreduce_rates"])
        links, _, allreduce, roofline = outputs[-4:]
        self.assertTrue(links["links"]["slow"] and links["links"]["cores"] and links["links"]["links"][0]["pieces"] and allreduce["allreduce"]["sizes"] and roofline["roofline"]["batches"])
        self.check("report", outputs)

    def test_across(self):
        files = [self.run_file(*run) for run in (("one.h5", D), ("other.h5", D, "W=2.4e8", "P=4"), ("single.h5", "P=1"), ("running.h5", D, "seed=2", "status=running"),
                                                 ("outside.h5", "D=2,4,8"))]
        output = output_of("across", *files, "--json", "-")
        self.assertEqual([c["file"] for c in output["crossovers"]], [files[i] for i in (0, 1, 3, 4)])
        self.check("across", [output, output_of("across", files[2], "--json", "-")])

    def test_prediction(self):
        known = ("--hardware", "tpu-v5e", "--json")
        self.check("prediction", [output_of("predict", *known),
                                  output_of("predict", *known, "--B", "8", "--D", "8", "--F", "8", "--memory", "1GB", "--alpha", "1e-6"),
                                  output_of("predict", "--flops", "1e11", "--ranks", "1", "--json")])

    def test_forecast(self):
        run = self.run_file("run.h5", D, "strategies=mpi_allreduce:0,pipelined_thread:0.9")
        self.check("forecast", [output_of("predict", "--from", run, "--json"),
                                output_of("predict", "--from", run, "--models", "-P", "4", "--bandwidth-factor", "2", "--json")])

    def test_hardware(self):
        self.check("hardware", [output_of("predict", "--list-hardware", "--json")])

    def test_the_schema_refuses_what_is_none(self):
        report = output_of("report", self.run_file("run.h5", D), "--json", "-")
        links = output_of("report", self.run_file("links.h5", "measure=links"), "--json", "-")
        validator = jsonschema.Draft202012Validator(schema_of("report"))
        for good, spoil in ((report, lambda r: r.pop("verdict")), (report, lambda r: r.update(verdict="maybe")),
                            (report, lambda r: r["points"][0].update(t_comp_s="1")), (report, lambda r: r["crossovers"][0]["D_obs_ci"].pop()),
                            (report, lambda r: r["allreduce_rates"][0].pop("bus_bytes_per_s")), (links, lambda r: r["claims"][0].pop("reason")),
                            (links, lambda r: r["links"]["links"][0].update({"from": "n0"})), (links, lambda r: r["links"]["typical"][0].pop("a_s"))):
            self.assertTrue(validator.is_valid(good))
            spoilt = json.loads(json.dumps(good))
            spoil(spoilt)
            self.assertFalse(validator.is_valid(spoilt))

    def test_the_document_names_the_same_keys(self):
        with open(os.path.join(DOCS, "json.md"), encoding="utf-8") as file:
            document = file.read()
        sections = re.split(r"^## (shardline-[a-z-]+)$", document, flags=re.MULTILINE)
        for title, text in zip(sections[1::2], sections[2::2]):
            schema = schema_of(title.removeprefix("shardline-"))
            self.assertEqual(schema["properties"]["schema"]["const"], title)
            keys = {path.rsplit(".", 1)[-1] for path in keys_in_schema(schema, schema)}
            named = set(re.findall(r"`([A-Za-z0-9_]+)`", text))
            self.assertEqual(keys - named, set(), f"not in {title} of docs/json.md")
            first_cells = " ".join(re.findall(r"^\| (.*?) \|", text, flags=re.MULTILINE))
            self.assertEqual(set(re.findall(r"`([A-Za-z0-9_]+)`", first_cells)) - keys, set(), f"not in the schema of {title}")


if __name__ == "__main__":
    unittest.main()

"""docs/fleet-kubernetes.yaml: against the schema that dask-kubernetes' operator installs, and against this driver."""

import json
import subprocess
import unittest

from .cluster import dask_python
from .support import FLEET

MANIFEST = FLEET.parent / "docs" / "fleet-kubernetes.yaml"
PYTHON = dask_python()
# With YAML and JSON Schema from the environment of the tests. What the schema does not know is an error too, down to
# where it says that it keeps unknown fields.
VALIDATE = """
import glob, json, sys, dask_kubernetes_schema as found, jsonschema, yaml
[made] = list(yaml.safe_load_all(open(sys.argv[1]).read().replace("IMAGE", "image:1")))
version = next(v for v in found.CRD["spec"]["versions"] if made["apiVersion"].endswith("/" + v["name"]))
assert made["apiVersion"].split("/")[0] == found.CRD["spec"]["group"] and made["kind"] == found.CRD["spec"]["names"]["kind"]
def closed(schema):
    if isinstance(schema, dict):
        if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields") and isinstance(schema["properties"], dict):
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            closed(part)
    elif isinstance(schema, list):
        for part in schema:
            closed(part)
schema = version["schema"]["openAPIV3Schema"]
closed(schema["properties"]["spec"])
for change in (lambda m: None, *(eval(text) for text in sys.argv[2:])):
    copy = json.loads(json.dumps(made))
    change(copy)
    errors = [f"{list(e.absolute_path)}: {e.message}"[:200] for e in jsonschema.Draft7Validator(schema).iter_errors(copy)]
    print(json.dumps({"errors": errors, "made": copy}))
"""
FIND = """
import glob, pathlib, sysconfig, yaml
[path] = glob.glob(sysconfig.get_path("purelib") + "/dask_kubernetes/**/crds/daskcluster.yaml", recursive=True)
CRD = yaml.safe_load(pathlib.Path(path).read_text())
"""


def validate(*changes: str) -> list[dict] | str:
    """What the schema says of the manifest, and of it changed in these ways; or why it was not asked."""
    if not PYTHON:
        return "there is no environment with `distributed`"
    script = f"import sys, types\nm = types.ModuleType('dask_kubernetes_schema')\nexec({FIND!r}, m.__dict__)\nsys.modules[m.__name__] = m\n{VALIDATE}"
    words = [PYTHON, "-c", script, str(MANIFEST), *changes]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode and "Error: not enough values" in done.stderr or "No module named" in done.stderr:
        pip = [PYTHON, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "jsonschema"], capture_output=True, timeout=300)
        subprocess.run([*pip, "--no-deps", "dask-kubernetes"], capture_output=True, timeout=300)
        done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return [json.loads(line) for line in done.stdout.splitlines()]


class Kubernetes(unittest.TestCase):
    def test_the_manifest(self) -> None:
        said = validate(
            "lambda m: m['spec'].pop('worker')",
            "lambda m: m['spec']['worker']['spec']['containers'][0].pop('name')",
            "lambda m: m['spec']['worker'].update(replicas='four')",
            "lambda m: m['spec']['scheduler']['service']['ports'][0].update(port='x')",
            "lambda m: m['spec']['worker'].update(replica=4)",
        )
        if isinstance(said, str):
            self.skipTest(f"NOT CHECKED: the manifest for Kubernetes: {said}")
        self.assertEqual(said[0]["errors"], [])
        # The schema notices: the check can fail.
        for broken in said[1:]:
            self.assertNotEqual(broken["errors"], [], broken["made"])
        worker = said[0]["made"]["spec"]["worker"]["spec"]["containers"][0]
        self.assertEqual(worker["args"][:4], ["dask", "worker", "--name", "$(DASK_WORKER_NAME)"])
        mounts = {m["name"] for m in worker["volumeMounts"]}
        self.assertEqual(mounts, {v["name"] for v in said[0]["made"]["spec"]["worker"]["spec"]["volumes"]})
        names = {p["name"] for p in said[0]["made"]["spec"]["scheduler"]["spec"]["containers"][0]["ports"]}
        self.assertEqual({p["targetPort"] for p in said[0]["made"]["spec"]["scheduler"]["service"]["ports"]}, names)


if __name__ == "__main__":
    unittest.main()

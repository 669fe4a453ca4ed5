"""Reads `cargo metadata` and prints the crates that are built into placet as a CycloneDX 1.5 document.

The format is that of the CycloneDX project's JSON schema, version 1.5. Crates that only tests or build scripts use are
left out.
"""

import json
import sys

metadata = json.load(sys.stdin)
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
root = metadata["resolve"]["root"]


def used_by(package):
    for dependency in nodes[package]["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            yield dependency["pkg"]


seen, todo = set(), [root]
while todo:
    package = todo.pop()
    if package not in seen:
        seen.add(package)
        todo.extend(used_by(package))


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, kind):
    entry = {
        "type": kind,
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["license"]:
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    return entry


libraries = sorted((packages[each] for each in seen - {root}), key=purl)
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": component(packages[root], "application")},
    "components": [component(package, "library") for package in libraries],
    "dependencies": [
        {"ref": purl(packages[each]), "dependsOn": sorted({purl(packages[on]) for on in used_by(each)})}
        for each in sorted(seen)
    ],
}
json.dump(document, sys.stdout, indent=1)
print()

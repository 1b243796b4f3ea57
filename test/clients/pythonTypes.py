"""Reads answers of the server whose URL is the first argument as the types of the client."""

import json
import sys
import urllib.request

import pydantic
from catalog_types import GetDataset, ListDataset, Problem

base = sys.argv[1]


def read(path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


dataset = GetDataset(**read("/datasets/61"))
assert dataset.id == 61 and dataset.creator == ["R.A. Fisher"], dataset
rows = [ListDataset(**row) for row in read("/datasets/list", {"limit": 1000})]
assert len(rows) > 3 and all(isinstance(row.did, int) for row in rows), rows
problem = Problem(**read("/datasets/999999", Accept="application/problem+json"))
assert problem.status == 404 and problem.code == "111", problem
try:
    GetDataset(**{**read("/datasets/61"), "id": "none"})
    raise SystemExit("a wrong type was accepted")
except pydantic.ValidationError:
    pass
print(f"pydantic {pydantic.VERSION}: {len(rows) + 1} answers and an error are of their types")

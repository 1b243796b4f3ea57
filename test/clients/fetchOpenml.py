"""Asks the server that the first argument names for each dataset as an old client does, and prints what `fetch_openml` makes of it.

The other arguments are members of `details` that are left out. The output is one JSON object: what was asked for, and the digest of the
dataset, or the class and text of the exception. Without pandas the requests for frames are ImportErrors, after the description was read.
"""

import hashlib
import json
import sys
import warnings

import numpy
import scipy.sparse
from sklearn.datasets import _openml

ids = [1, 2, 3, 61, 62, 292, 561, 1119, 1590, 40589, 40675, 40945, 40966, 42585]
versions = {
    "adult-census": 1,
    "anneal": 1,
    "Australian": 1,
    "cpu": 1,
    "emotions": 3,
    "glass2": 1,
    "iris": 1,
    "MiceProtein": 4,
}
requests = [
    *({"data_id": data_id, "as_frame": as_frame} for data_id in ids for as_frame in ("auto", False)),
    *({"name": name} for name in versions),
    *({"name": name, "version": version} for name, version in versions.items()),
    # These do not exist.
    {"data_id": 999999},
    {"name": "no-such-name"},
    {"name": "iris", "version": 9},
]


def describe(value):
    """All that two equal values have in common, as JSON takes it: types, names, categories, rows."""
    if scipy.sparse.issparse(value):
        return ["sparse", describe(value.toarray())]
    if isinstance(value, numpy.ndarray):
        return [str(value.dtype), value.shape, value.tolist()]
    if hasattr(value, "columns"):
        return [[str(name), describe(value[name])] for name in value.columns]
    if hasattr(value, "dtype"):
        return [str(value.dtype), list(getattr(value.dtype, "categories", [])), value.tolist()]
    return value


def outcome(request):
    try:
        bunch = _openml.fetch_openml(cache=False, parser="liac-arff", **request)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for name in sys.argv[2:]:
        bunch["details"].pop(name, None)
    described = {name: describe(value) for name, value in bunch.items()}
    return hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()


warnings.simplefilter("ignore")
_openml._OPENML_PREFIX = sys.argv[1] + "/"
# It waits for a second before each of its three retries.
_openml.time.sleep = lambda seconds: None
print(json.dumps({json.dumps(request): outcome(request) for request in requests}))

"""Runs scikit-learn's fetch_openml against the server whose URL is the first argument."""

import sys

import sklearn
import sklearn.datasets._openml as openml

openml._OPENML_PREFIX = sys.argv[1] + "/"


def fails(**wanted):
    try:
        openml.fetch_openml(cache=False, parser="liac-arff", as_frame=False, **wanted)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{wanted} was found")


for wanted in ({"data_id": 61}, {"name": "iris"}, {"name": "iris", "version": 1}):
    found = openml.fetch_openml(cache=False, parser="liac-arff", as_frame=False, **wanted)
    assert found.data.shape == (150, 4), found.data.shape
    assert set(found.target) == {"Iris-setosa", "Iris-versicolor", "Iris-virginica"}, found.target
    assert found.details["name"] == "iris", found.details
assert "no_such" in fails(name="no_such"), fails(name="no_such")
assert "not found" in fails(data_id=999999), fails(data_id=999999)
print(f"scikit-learn {sklearn.__version__}: fetch_openml by id, by name and by version, and what does not exist")

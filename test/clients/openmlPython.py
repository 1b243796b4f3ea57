"""Calls functions of openml-python that need no data file, and prints what each gives.

The first argument is the origin of the server, the second one a key, or empty. The output is one JSON object: each call, and the digest of
what it gives, or the class and text of the exception.
"""

import enum
import hashlib
import json
import sys
import tempfile

import openml

WHOLE = "download_data=False, download_qualities=True, download_features_meta_data=True"
# Without a size it asks for 10,000 rows, which legacy refuses of runs and evaluations; and it cannot read a dataset with a single quality.
calls = [
    "datasets.list_datasets(size=9)",
    "datasets.list_datasets(data_name='iris')",
    "datasets.list_qualities()",
    f"datasets.get_dataset(61, {WHOLE})",
    f"datasets.get_dataset('iris', version=1, {WHOLE})",
    "tasks.list_tasks()",
    f"tasks.get_task(59, download_splits=False, {WHOLE})",
    "flows.list_flows()",
    "flows.get_flow(101)",
    "runs.list_runs(task=[1], size=1000)",
    "runs.get_run(1)",
    "setups.list_setups()",
    "setups.get_setup(1)",
    "study.list_suites()",
    "study.list_studies()",
    "study.get_suite(100)",
    "study.get_study(104)",
    "evaluations.list_evaluations('predictive_accuracy', size=1000)",
    "evaluations.list_evaluation_measures()",
    "evaluations.list_estimation_procedures()",
]
# These do not exist. While legacy fails, the owner of a dataset must not hear that it is unknown, so who has a key is not told.
unknown = [
    "datasets.get_dataset(999999)",
    "datasets.list_datasets(data_name='no-such-name')",
    "runs.list_runs(task=[999], size=1000)",
]


def describe(value):
    """All that two equal values have in common, as JSON takes it."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, dict):
        return {str(key): describe(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(member) for member in value]
    if type(value).__module__.startswith("openml.") and not isinstance(value, enum.Enum):
        return describe(vars(value))
    return str(value)


def outcome(call):
    try:
        text = json.dumps(describe(eval(f"openml.{call}")), sort_keys=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace(origin, "")
    return hashlib.sha256(text.replace(origin, "").replace(folder, "").encode()).hexdigest()


origin, key = sys.argv[1:]
# What it has read before it takes from its own cache.
folder = tempfile.mkdtemp()
openml.config.set_root_cache_directory(folder)
openml.config.server = f"{origin}/api/v1/xml"
openml.config.apikey = key
print(json.dumps({call: outcome(call) for call in (calls if key else calls + unknown)}))

"""How many programs a test tries: some that are always the same, or with `FUZZ_SEED` others each time."""

import os

import hypothesis

hypothesis.settings.register_profile(
    "programs",
    database=None,
    deadline=None,
    derandomize="FUZZ_SEED" not in os.environ,
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "80")),
    phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    print_blob=False,
    report_multiple_bugs=False,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("programs")

"""The checker of derivative rules, and the tests that feed it wrong rules."""

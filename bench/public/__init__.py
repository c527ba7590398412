"""Public exams of others, run against the service and against rivals: `make bench-public`."""

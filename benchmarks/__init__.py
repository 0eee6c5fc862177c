"""Speed of gyrostat next to its peers: `python -m benchmarks`. One file per subject, one harness for all."""

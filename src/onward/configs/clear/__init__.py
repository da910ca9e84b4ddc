"""CLEAR: Lin, Shi, Pathak and Ramanan, NeurIPS 2021 Datasets and Benchmarks."""

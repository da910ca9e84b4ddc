"""CLAD: Verwimp et al., Neural Networks 2023."""

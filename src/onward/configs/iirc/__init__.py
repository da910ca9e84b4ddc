"""IIRC: Abdelsalam, Faramarzi, Sodhani and Chandar, CVPR 2021."""

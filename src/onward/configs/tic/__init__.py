"""TiC-CLIP: Garg et al., ICLR 2024."""

"""Python files with modules of a user, as tests write them."""

MODULES = '''
import math

import torch
from torch import nn


class Shaped(nn.Module):
    """Told the shape of its inputs."""

    def __init__(self, input_shape):
        super().__init__()
        self.input_shape = tuple(input_shape)
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), 5), nn.Tanh())

    def forward(self, inputs):
        return self.net(inputs)


class Convolutions(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )


class Lazy(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.LazyLinear(6), nn.ReLU())


class WithoutParameters(nn.Flatten):
    pass


class Map(nn.Conv2d):
    def __init__(self):
        super().__init__(3, 4, 3)


class Pair(nn.Linear):
    def __init__(self):
        super().__init__(7, 4)

    def forward(self, inputs):
        return super().forward(inputs), inputs


class NeedsMore(nn.Linear):
    pass


class NoModule:
    pass
'''

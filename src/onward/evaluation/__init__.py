"""Evaluating a model that exists already: on every period of a stream, and on static tasks.

>>> import onward
>>> from onward.evaluation.evaluate import evaluate
>>> from onward.models.clip_choice import named_clip
>>> benchmark = onward.load("tic", data="emoji")
>>> found = evaluate(named_clip("clip_small"), benchmark)
>>> [*found.periods["2017-05"]]
['period', 'unseen', 'zero_shot']
"""

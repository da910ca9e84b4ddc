"""The gradient learner: batches, budget, schedules, cost counting."""

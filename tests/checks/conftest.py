import sys
from pathlib import Path

# Leaks are sent to a fresh process, which imports them by name.
sys.path.insert(0, str(Path(__file__).parent))

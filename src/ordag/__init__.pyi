"""The public names and where they live."""

from .assumptions.check import diagnose as diagnose
from .bootstrapping import bootstrap as bootstrap
from .comparison import compare as compare
from .data.moments import Moments as Moments
from .effects import total_effect as total_effect
from .effects import total_effects as total_effects
from .errors import OrdagError as OrdagError
from .errors import OrdagWarning as OrdagWarning
from .errors import PrecisionWarning as PrecisionWarning
from .estimators import CVS as CVS
from .estimators import GDS as GDS
from .estimators import GES as GES
from .estimators import PC as PC
from .estimators import Pooled as Pooled
from .fit import Fit as Fit
from .graph import Cpdag as Cpdag
from .graph import Dag as Dag
from .graph import hamming as hamming
from .graph import shd as shd
from .knowledge.knowledge import Knowledge as Knowledge
from .learning import learn as learn
from .learning import refit as refit
from .model.identifiability import identifiability as identifiability
from .model.sem import LinearSEM as LinearSEM
from .model.simulate import simulate as simulate
from .saved import load as load

__version__: str

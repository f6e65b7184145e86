from pyptx.cuda.kernels import reduction as reduction
from pyptx.cuda.kernels import transpose as transpose

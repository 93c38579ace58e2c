"""Starting a judge that a server answers for: how its prompts are rendered, and under which identity."""

import json

from transformers import AutoTokenizer

from judgelab.config.schema import ModelConfig, Origin, ScoreRoot
from judgelab.engines.base import StartedJudge
from judgelab.engines.server import ServerEngine
from judgelab.engines.server_config import ServerApi, ServerConfig
from judgelab.errors import ConfigError
from judgelab.judges.rendering import MessageRenderer, Renderer
from judgelab.models.base import model_folder

# A call ends when its slowest request does, so that it should be many rounds long. Not a multiple of the concurrency,
# which may change when a run is resumed.
REQUESTS_PER_CALL = 4096


def start_server(settings: ServerConfig, config: ScoreRoot) -> StartedJudge:
    """The engine with the renderer of its API; raises ConfigError for a missing key, a bad URL or an adapter."""
    if config.adapter is not None:
        raise ConfigError(
            f"adapter={config.adapter}: a server loads adapters itself; for vLLM start it with "
            "--enable-lora --lora-modules NAME=FOLDER, and set adapter=null engine.model=NAME"
        )
    if settings.api is ServerApi.chat:
        return StartedJudge(ServerEngine(settings, ()), MessageRenderer(), server_identity(settings), REQUESTS_PER_CALL)
    renderer = _served_renderer(config.model)
    engine = ServerEngine(settings, sorted(renderer.stop_ids))
    return StartedJudge(engine, renderer, server_identity(settings), REQUESTS_PER_CALL)


def server_identity(settings: ServerConfig) -> str:
    """A served model by name and by what is added to requests: its weights are not to be seen.

    Its address does not count, so that a run goes on where the same judge has moved to.
    """
    extra = f" {json.dumps(settings.body, sort_keys=True)}" if settings.body else ""
    return f"{settings.model}, {settings.api.name}{extra}"


def _served_renderer(model: ModelConfig) -> Renderer:
    if model.origin is Origin.tiny:
        raise ConfigError("engine=server: no server has the tiny model; use engine=hf with debug=tiny")
    try:
        tokenizer = AutoTokenizer.from_pretrained(model_folder(model), revision=model.revision, trust_remote_code=False)
    except OSError as error:
        raise ConfigError(
            f"model.name={model.name}: its tokenizer could not be loaded ({str(error).splitlines()[0]}); engine=server "
            "renders prompts here, so set model= to what the server serves, or use engine.api=chat"
        ) from error
    return Renderer(tokenizer, model.chat_template_kwargs)

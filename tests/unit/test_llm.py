"""Language models through the real SDK, against an endpoint that answers from a script."""

from __future__ import annotations

import pytest

from muniment.errors import InvalidInputError, MissingExtraError, ProviderError
from muniment.ports import ModelReply
from muniment.providers.llm import AzureOpenAIModel, ModelAPI, OpenAIModel, open_model
from tests.scripted_endpoint import Reply, ScriptedEndpoint, busy

KEY = "sk-test-1234567890abcdef"
SECRET = "the vault opens at nine"


def _response(text: str, status: str = "completed") -> Reply:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
    return Reply(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 0,
            "model": "served-model",
            "status": status,
            "output": [message],
        }
    )


def _completion(text: str | None) -> Reply:
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    return Reply(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "served-model",
            "choices": [choice],
        }
    )


def _model(endpoint: ScriptedEndpoint, api: ModelAPI = "responses") -> OpenAIModel:
    return OpenAIModel("some-model", base_url=endpoint.url + "/v1", api_key=KEY, api=api)


@pytest.mark.promise("ANS-1", "ANS-2")
def test_the_responses_interface_stores_nothing(endpoint: ScriptedEndpoint) -> None:
    endpoint.queue(_response("An aisle seat."))
    reply = _model(endpoint).respond(instructions="Be short.", prompt="Which seat?")
    assert reply == ModelReply("An aisle seat.", "served-model")
    asked = endpoint.asked[0]
    assert asked.path == "/v1/responses"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "some-model",
        "instructions": "Be short.",
        "input": "Which seat?",
        "store": False,
    }


def test_the_chat_interface_keeps_the_records_out_of_the_system_role(
    endpoint: ScriptedEndpoint,
) -> None:
    endpoint.queue(_completion("An aisle seat."))
    reply = _model(endpoint, "chat").respond(instructions="Be short.", prompt="Which seat?")
    assert reply == ModelReply("An aisle seat.", "served-model")
    assert endpoint.asked[0].path == "/v1/chat/completions"
    assert endpoint.asked[0].body == {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Which seat?"},
        ],
        "store": False,
    }


@pytest.mark.parametrize("status", [429, 500])
def test_a_passing_failure_is_tried_again(endpoint: ScriptedEndpoint, status: int) -> None:
    endpoint.queue(busy(status), _response("Yes."))
    assert _model(endpoint).respond(instructions="i", prompt="p").text == "Yes."


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_lasting_failure_says_neither_key_nor_prompt(
    endpoint: ScriptedEndpoint, api: ModelAPI, status: int
) -> None:
    body = {"error": {"message": f"bad key {KEY} for {SECRET}"}}
    endpoint.answer = lambda asked: Reply(body, status, {"retry-after-ms": "1"})
    with pytest.raises(ProviderError, match=f"HTTP status {status}") as caught:
        _model(endpoint, api).respond(instructions=SECRET, prompt=SECRET)
    shown = str(caught.value.to_dict())
    assert KEY not in shown
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("api", "reply"),
    [
        ("responses", _response("")),
        ("responses", _response(" \n")),
        ("responses", _response("half", "failed")),
        ("responses", Reply({})),
        ("responses", Reply("<html>")),
        ("chat", _completion("")),
        ("chat", _completion(None)),
        ("chat", Reply({"choices": []})),
        ("chat", Reply("[]")),
    ],
)
def test_an_empty_answer_is_a_provider_error(
    endpoint: ScriptedEndpoint, api: ModelAPI, reply: Reply
) -> None:
    endpoint.queue(reply)
    with pytest.raises(ProviderError):
        _model(endpoint, api).respond(instructions="i", prompt="p")


@pytest.mark.promise("ANS-2")
@pytest.mark.parametrize(
    ("api", "path", "reply"),
    [
        ("responses", "/openai/responses", _response("Yes.")),
        ("chat", "/openai/deployments/my-deployment/chat/completions", _completion("Yes.")),
    ],
)
def test_azure_has_its_own_address_and_header(
    endpoint: ScriptedEndpoint, api: ModelAPI, path: str, reply: Reply
) -> None:
    endpoint.queue(reply)
    model = AzureOpenAIModel(
        "my-deployment", endpoint=endpoint.url, api_key=KEY, api_version="2025-04-01", api=api
    )
    assert model.respond(instructions="i", prompt="p").text == "Yes."
    asked = endpoint.asked[0]
    assert asked.path == path
    assert asked.query == {"api-version": ["2025-04-01"]}
    assert asked.headers["api-key"] == KEY
    assert asked.body["model"] == "my-deployment"


class _Scripted:
    def respond(self, *, instructions: str, prompt: str) -> ModelReply:
        return ModelReply(prompt, "scripted")


def test_a_model_stays_itself_and_none_is_none() -> None:
    model = _Scripted()
    assert open_model(model) is model
    assert open_model(None) is None
    assert open_model("none") is None


@pytest.mark.promise("ANS-2")
@pytest.mark.parametrize(
    ("spec", "path", "reply"),
    [
        ("openai:some-model", "/responses", _response("Yes.")),
        ("chat:some-model", "/chat/completions", _completion("Yes.")),
        ("azure:some-model", "/openai/responses", _response("Yes.")),
        ("azure-chat:m", "/openai/deployments/m/chat/completions", _completion("Yes.")),
    ],
)
def test_a_specification_is_configured_by_the_environment(
    endpoint: ScriptedEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    path: str,
    reply: Reply,
) -> None:
    monkeypatch.setenv("MUNIMENT_MODEL_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", endpoint.url)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_VERSION", "2025-04-01")
    endpoint.queue(reply)
    model = open_model(spec)
    assert model is not None
    assert model.respond(instructions="i", prompt="p").text == "Yes."
    assert endpoint.asked[0].path == path


@pytest.mark.parametrize("spec", ["", "gpt", "openai:", "chat: ", "other:m", 3])
def test_an_unknown_specification_is_refused_with_what_is_allowed(spec: object) -> None:
    with pytest.raises(InvalidInputError, match="openai:MODEL, chat:MODEL"):
        open_model(spec)


@pytest.mark.usefixtures("no_settings")
def test_a_missing_endpoint_or_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInputError, match="MUNIMENT_MODEL_API_KEY"):
        open_model("openai:some-model")
    with pytest.raises(InvalidInputError, match="api must be"):
        OpenAIModel("m", api_key=KEY, api="other")  # type: ignore[arg-type]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"muniment\[openai\]"):
        open_model("openai:some-model")

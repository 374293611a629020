"""Checks the endpoints of a gateway with the unmodified packages openai and anthropic, with plain HTTP, and (CLI=1) with the programs codex and claude.

  python gateway_acceptance.py                                                                        the scripted upstream alone
  GATEWAY_URL=http://127.0.0.1:PORT GATEWAY_KEY=tt_... MODEL_PREFIX=acme/ GATEWAY_PROJECT=acme/assistant python gateway_acceptance.py

The scripted upstream listens on STUB_PORT (5590), wants the key `upstream-key`, and plays each of MODELS. The gateway offers them in all APIs as
MODEL_PREFIX + name, and as TRANSLATE_PREFIX + name from an upstream that speaks chat completions only. SETUP names a program that registers these
upstreams: it gets STUB_URL and MODELS in its environment. ONLY=regex selects checks by name. Prints `N passed, N failed`, and exits with 1 if any failed.
"""
import base64, gzip, json, os, re, shutil, struct, subprocess, sys, tempfile, threading, time
import anthropic, httpx, openai

HERE = os.path.dirname(os.path.abspath(__file__))
PORT = int(os.environ.get('STUB_PORT', 5590))
STUB = f'http://127.0.0.1:{PORT}'
SELF = 'GATEWAY_URL' not in os.environ
URL = os.environ.get('GATEWAY_URL', STUB).rstrip('/')
KEY = os.environ.get('GATEWAY_KEY', 'upstream-key' if SELF else '')
PREFIX = os.environ.get('MODEL_PREFIX', '')
TPREFIX = os.environ.get('TRANSLATE_PREFIX', PREFIX)
PROJECT = os.environ.get('GATEWAY_PROJECT')
MODELS = ('stub-text stub-tool stub-tools2 stub-agent stub-reason stub-cached stub-cut stub-refuse stub-json stub-400 stub-401 stub-404 stub-429 '
          'stub-500 stub-529 stub-flaky stub-mid stub-drop stub-slow stub-fail stub-unknown-events stub-embed').split()
NONE = 'stub-absent-model' if not SELF else 'absent-model'
checks = []
def check(name):
    def add(f): checks.append((name, f)); return f
    return add
def m(name): return PREFIX + name
def eq(a, b, what=''):
    if a != b: raise AssertionError(f'{what} expected {b!r}, got {a!r}')
def ok(x, what):
    if not x: raise AssertionError(what)

extra = {'project': PROJECT} if PROJECT else {}
oa = openai.OpenAI(base_url=URL + '/v1', api_key=KEY, max_retries=2, timeout=30, **extra)
oa0 = oa.with_options(max_retries=0)
headers = {'OpenAI-Project': PROJECT} if PROJECT else {}
an = anthropic.Anthropic(base_url=URL, api_key=KEY, auth_token=None, max_retries=2, timeout=30, default_headers=headers)
an0 = an.with_options(max_retries=0)
http = httpx.Client(base_url=URL, timeout=30)
stub_http = httpx.Client(base_url=STUB, timeout=30)
BEARER = {'authorization': 'Bearer ' + KEY, **headers}
ANT = {'x-api-key': KEY, 'anthropic-version': '2023-06-01', **headers}
HI = [{'role': 'user', 'content': 'hi'}]

def seen(clear=False):
    if clear: stub_http.delete('/__requests'); return []
    return [r for r in stub_http.get('/__requests').json() if r['method'] == 'POST']
def last():
    got = stub_http.get('/__requests?last').json()
    ok(got, 'nothing reached the upstream')
    return got[-1]
def raises(f, *kinds):
    try: r = f()
    except kinds as e: return e
    except Exception as e: raise AssertionError(f'{type(e).__name__}: {str(e)[:160]} instead of {"/".join(k.__name__ for k in kinds)}')
    raise AssertionError(f'no error; got {str(r)[:120]}')
def frames(method, path, body, head):
    """The raw SSE frames: (event, data) in order, and the times at which they came."""
    out, event, times = [], None, []
    with http.stream(method, path, json=body, headers=head) as r:
        eq(r.status_code, 200, 'status')
        ok('text/event-stream' in r.headers['content-type'], 'content-type ' + r.headers['content-type'])
        for line in r.iter_lines():
            if line.startswith('event:'): event = line[6:].strip()
            elif line.startswith('data:'): out.append((event, line[5:].strip())); times.append(time.time()); event = None
    return out, times

def slowly(path, body, head):
    for _i in range(4):  # on a busy machine this program itself may read late
        _f, t = frames('POST', path, body, head)
        if t[-1] - t[0] > 0.5: return True

# ------------------------------------------------------------------ Responses
R_TEXT = ['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'] + ['response.output_text.delta'] * 4 + [
    'response.output_text.done', 'response.content_part.done', 'response.output_item.done', 'response.completed']
TOOL = {'type': 'function', 'name': 'get_weather', 'description': 'w', 'strict': True, 'parameters': {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city'], 'additionalProperties': False}}

@check('responses: create')
def _():
    r = oa.responses.create(model=m('stub-text'), input='hi')
    eq((r.output_text, r.status, r.object), ('Hello, world.', 'completed', 'response')); eq(r.usage.total_tokens, 16)
@check('responses: the model of the answer is the public id')
def _(): eq(oa.responses.create(model=m('stub-text'), input='hi').model, m('stub-text'))
@check('responses: stream has the upstream\'s events, in order, no others')
def _():
    f, _t = frames('POST', '/v1/responses', {'model': m('stub-text'), 'input': 'hi', 'stream': True}, BEARER)
    got = [e for e, d in f if d != '[DONE]']; eq(got, R_TEXT)
    d = [json.loads(d) for e, d in f if d != '[DONE]']
    eq([x['type'] for x in d], got, 'event name and type'); eq([x['sequence_number'] for x in d], list(range(len(d))), 'sequence_number')
    eq(d[-1]['response']['model'], m('stub-text'), 'model in response.completed'); eq(d[0]['response']['model'], m('stub-text'), 'model in response.created')
    eq(len({x['response']['id'] for x in d if 'response' in x}), 1, 'one response id in all events')
@check('responses: stream helper')
def _():
    with oa.responses.stream(model=m('stub-reason'), input='hi') as s:
        for _e in s: pass
        r = s.get_final_response()
    eq([o.type for o in r.output], ['reasoning', 'message']); eq(r.usage.output_tokens_details.reasoning_tokens, 64)
@check('responses: events come as they are sent')
def _():
    ok(slowly('/v1/responses', {'model': m('stub-slow'), 'input': 'hi', 'stream': True}, BEARER), 'all events at once: buffered')
@check('responses: structured output')
def _():
    import pydantic
    class A(pydantic.BaseModel): city: str; ok: bool
    eq(oa.responses.parse(model=m('stub-json'), input='hi', text_format=A).output_parsed, A(city='Paris', ok=True))
@check('responses: function call, stateless second turn')
def _():
    r = oa.responses.create(model=m('stub-agent'), input=HI, tools=[TOOL], store=False)
    fc = r.output[0]; eq((fc.type, fc.name, json.loads(fc.arguments)), ('function_call', 'get_weather', {'city': 'Paris'}))
    r2 = oa.responses.create(model=m('stub-agent'), tools=[TOOL], store=False, input=[*HI, *[o.model_dump(exclude_none=True) for o in r.output], {'type': 'function_call_output', 'call_id': fc.call_id, 'output': 'sunny'}])
    eq(r2.output_text, 'Hello, world.'); eq([i.get('type', 'message') for i in last()['body']['input']], ['message', 'function_call', 'function_call_output'])
@check('responses: parallel function calls in a stream')
def _():
    with oa.responses.stream(model=m('stub-tools2'), input='hi', tools=[TOOL]) as s:
        for _e in s: pass
        eq([(o.type, o.call_id) for o in s.get_final_response().output], [('function_call', 'call_a'), ('function_call', 'call_b')])
@check('responses: custom and hosted tools reach the upstream as they are')
def _():
    tools = [{'type': 'custom', 'name': 'code', 'format': {'type': 'text'}}, {'type': 'web_search'}, {'type': 'mcp', 'server_label': 'x', 'server_url': 'https://x.test/mcp', 'require_approval': 'never'}]
    r = oa.responses.create(model=m('stub-tool'), input='hi', tools=tools); eq(r.output[0].type, 'custom_tool_call'); eq(last()['body']['tools'], tools)
@check('responses: encrypted reasoning comes and goes')
def _():
    r = oa.responses.create(model=m('stub-reason'), input=HI, store=False, include=['reasoning.encrypted_content'])
    eq(r.output[0].encrypted_content, 'gAAAAstub')
    oa.responses.create(model=m('stub-reason'), store=False, include=['reasoning.encrypted_content'], input=[*HI, *[o.model_dump(exclude_none=True) for o in r.output], *HI])
    eq(last()['body']['input'][1]['encrypted_content'], 'gAAAAstub')
@check('responses: cached and cache-write tokens')
def _():
    u = oa.responses.create(model=m('stub-cached'), input='hi').usage
    eq((u.input_tokens, u.input_tokens_details.cached_tokens, u.output_tokens), (2100, 1920, 30))
@check('responses: incomplete')
def _():
    evs = list(oa.responses.create(model=m('stub-cut'), input='hi', stream=True))
    eq(evs[-1].type, 'response.incomplete'); eq(evs[-1].response.incomplete_details.reason, 'max_output_tokens')
@check('responses: refusal')
def _(): eq(oa.responses.create(model=m('stub-refuse'), input='hi').output[0].content[0].type, 'refusal')
@check('responses: failed is the last event and no completion follows')
def _():
    try: evs = [e.type for e in oa0.responses.create(model=m('stub-fail'), input='hi', stream=True)]
    except openai.APIError: return
    ok(evs[-1] in ('response.failed', 'error'), f'last event {evs[-1]}')
for _bad in ('stub-mid', 'stub-drop'):
    def _f(bad=_bad):
        try: evs = [e.type for e in oa0.responses.create(model=m(bad), input='hi', stream=True)]
        except Exception: return  # of which kind depends on the package's release
        ok(evs[-1] in ('error', 'response.failed'), f'the client saw no error; last event {evs[-1]}')
    check(f'responses: {_bad[5:]} within a stream is an error for the client')(_f)
@check('responses: fields of tomorrow reach the upstream')
def _():
    oa.responses.create(model=m('stub-text'), input='hi', extra_body={'future_field': {'a': [1, None]}}); eq(last()['body'].get('future_field'), {'a': [1, None]})
@check('responses: events of tomorrow reach the client')
def _():
    f, _t = frames('POST', '/v1/responses', {'model': m('stub-unknown-events'), 'input': 'hi', 'stream': True}, BEARER); ok('response.future_event' in [e for e, _d in f], 'dropped')
@check('responses: what Codex sends')
def _():
    seen(True)
    body = {'model': m('stub-agent'), 'stream': True, 'instructions': 'x', 'input': [{'type': 'message', 'id': 'msg_1', 'role': 'developer', 'content': [{'type': 'input_text', 'text': 'be brief'}]}, {'type': 'message', 'id': 'msg_2', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'hi'}]}],
            'tools': [{'type': 'function', 'name': 'exec_command', 'description': '', 'strict': False, 'parameters': {'type': 'object', 'properties': {'cmd': {'type': 'string'}}, 'required': ['cmd']}}, {'type': 'web_search', 'external_web_access': True}], 'tool_choice': 'auto', 'parallel_tool_calls': True,
            'reasoning': {'summary': 'auto'}, 'store': False, 'include': ['reasoning.encrypted_content'], 'prompt_cache_key': '01a2', 'client_metadata': {'session_id': '01a2'}}
    f, _t = frames('POST', '/v1/responses', body, {**BEARER, 'session-id': '01a2', 'thread-id': '01a2', 'originator': 'codex_exec', 'accept': 'text/event-stream', 'x-codex-window-id': '01a2:0'})
    eq(f[-1][0], 'response.completed'); got = last()['body']; eq({k: v for k, v in got.items() if k != 'model'}, {k: v for k, v in body.items() if k != 'model'}, 'body at the upstream')
@check('responses: previous_response_id is honoured or refused, never ignored')
def _():
    e = raises(lambda: oa0.responses.create(model=m('stub-text'), input='hi', previous_response_id='resp_nope'), openai.BadRequestError, openai.NotFoundError)
    ok('previous' in str(e).lower(), f'message says not why: {e}'); eq((e.body or {}).get('param'), 'previous_response_id', 'param')
@check('optional: responses: previous_response_id continues')
def _():
    r = oa0.responses.create(model=m('stub-agent'), input='hi', tools=[TOOL])
    try: r2 = oa0.responses.create(model=m('stub-agent'), previous_response_id=r.id, tools=[TOOL], input=[{'type': 'function_call_output', 'call_id': 'call_a', 'output': 'x'}])
    except openai.APIStatusError as e: ok(e.status_code in (400, 404) and 'previous' in str(e).lower(), f'unclear refusal: {e}'); return
    eq(r2.output_text, 'Hello, world.')
@check('optional: responses: retrieve, input_items, cancel, delete')
def _():
    r = oa0.responses.create(model=m('stub-text'), input='hi')
    try:
        eq(oa0.responses.retrieve(r.id).id, r.id); eq(len(oa0.responses.input_items.list(r.id).data), 1); oa0.responses.delete(r.id)
        raises(lambda: oa0.responses.retrieve(r.id), openai.NotFoundError)
    except openai.APIStatusError as e: ok(e.status_code in (400, 404, 405, 501) and e.body and e.body.get('message'), f'unclear refusal {e.status_code}: {e}')
@check('optional: responses: background')
def _():
    try: eq(oa0.responses.create(model=m('stub-text'), input='hi', background=True).status, 'queued')
    except openai.APIStatusError as e: ok(e.status_code == 400 and 'background' in str(e), f'unclear refusal: {e}')
@check('optional: responses: count of input tokens')
def _():
    try: eq(oa0.responses.input_tokens.count(model=m('stub-text'), input='hi').input_tokens, 12)
    except openai.APIStatusError as e: ok(e.status_code in (404, 405, 501) and e.body and e.body.get('message'), f'unclear refusal: {e}')
@check('optional: responses: compact')
def _():
    try: eq(oa0.responses.compact(model=m('stub-text'), input='hi').object, 'response.compaction')
    except openai.APIStatusError as e: ok(e.status_code in (404, 405, 501) and e.body and e.body.get('message'), f'unclear refusal: {e}')
@check('responses: 400 of the upstream')
def _(): e = raises(lambda: oa0.responses.create(model=m('stub-400'), input='hi'), openai.BadRequestError); eq((e.body['param'], e.body['code']), ('temperature', 'invalid_type'))
@check('responses: 429 with Retry-After')
def _(): e = raises(lambda: oa0.responses.create(model=m('stub-429'), input='hi'), openai.RateLimitError); ok(e.response.headers.get('retry-after'), 'no Retry-After')
@check('responses: 429 in place of a stream is a status, not an event')
def _(): raises(lambda: list(oa0.responses.create(model=m('stub-429'), input='hi', stream=True)), openai.RateLimitError)
@check('responses: a client that retries gets its answer')
def _(): eq(oa.responses.create(model=m('stub-flaky'), input='hi', extra_headers={'x-test': str(time.time())}).output_text, 'Hello, world.')
@check('responses: 500 of the upstream')
def _(): raises(lambda: oa0.responses.create(model=m('stub-500'), input='hi'), openai.InternalServerError)
@check('responses: unknown model')
def _(): e = raises(lambda: oa0.responses.create(model=PREFIX + NONE, input='hi'), openai.NotFoundError); eq(e.body.get('code'), 'model_not_found', 'code')
@check('responses: wrong key')
def _(): raises(lambda: openai.OpenAI(base_url=URL + '/v1', api_key='wrong', max_retries=0).responses.create(model=m('stub-text'), input='hi'), openai.AuthenticationError)
@check('responses: a request id in a header')
def _(): ok(oa.responses.create(model=m('stub-text'), input='hi')._request_id, 'no x-request-id')

# ------------------------------------------------------------------ Messages
M_TEXT = ['message_start', 'ping', 'content_block_start'] + ['content_block_delta'] * 4 + ['content_block_stop', 'message_delta', 'message_stop']
ATOOL = {'name': 'get_weather', 'description': 'w', 'input_schema': {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city']}}
def create(name='stub-text', c=None, **k): return (c or an).messages.create(**{'model': m(name), 'max_tokens': 50, 'messages': HI, **k})
def final(name, c=None, **k):
    with (c or an).messages.stream(**{'model': m(name), 'max_tokens': 50, 'messages': HI, **k}) as s:
        for _e in s: pass
        return s.get_final_message()
def ant_error(r, status, kind):
    ok(r.status_code in (status if isinstance(status, tuple) else (status,)), f'status {r.status_code}: {r.text[:120]}')
    b = r.json(); eq(b.get('type'), 'error', 'type'); ok(b.get('error', {}).get('type') in (kind if isinstance(kind, tuple) else (kind,)), f'error.type of {r.text[:160]}'); ok(b['error'].get('message'), 'no message')

@check('messages: create')
def _():
    r = create(); eq((r.content[0].text, r.stop_reason, r.role, r.type), ('Hello, world.', 'end_turn', 'assistant', 'message')); eq((r.usage.input_tokens, r.usage.output_tokens), (12, 4)); eq(r.model, m('stub-text'))
@check('messages: stream has the upstream\'s events, in order')
def _():
    f, _t = frames('POST', '/v1/messages', {'model': m('stub-text'), 'max_tokens': 5, 'messages': HI, 'stream': True}, ANT)
    eq([e for e, _d in f if e != 'ping'], [e for e in M_TEXT if e != 'ping']); d = [json.loads(d) for _e, d in f]; eq([x['type'] for x in d], [e for e, _d in f], 'event name and type')
    eq(d[0]['message']['model'], m('stub-text'), 'model'); ok(not any(x == '[DONE]' for _e, x in f), '[DONE] is not of this API')
@check('messages: stream helper, thinking with signature')
def _():
    r = final('stub-reason', thinking={'type': 'adaptive'}); eq([b.type for b in r.content], ['thinking', 'text']); eq((r.content[0].thinking, r.content[0].signature), ('I think.', 'sigStub==')); eq(r.usage.output_tokens, 90)
@check('messages: tool use in a stream')
def _():
    r = final('stub-tool', tools=[ATOOL]); eq(r.stop_reason, 'tool_use'); eq((r.content[-1].name, r.content[-1].input), ('get_weather', {'city': 'Paris'}))
@check('messages: tool result and thinking go back unchanged')
def _():
    turn = [*HI, {'role': 'assistant', 'content': [{'type': 'thinking', 'thinking': 'I think.', 'signature': 'sigStub=='}, {'type': 'tool_use', 'id': 'toolu_a', 'name': 'get_weather', 'input': {'city': 'Paris'}}]}, {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 'toolu_a', 'content': [{'type': 'text', 'text': 'sunny'}], 'is_error': False, 'cache_control': {'type': 'ephemeral'}}]}]
    eq(create('stub-agent', messages=turn, tools=[ATOOL]).content[0].text, 'Hello, world.'); eq(last()['body']['messages'], turn)
@check('messages: cache usage')
def _():
    u = create('stub-cached').usage; eq((u.input_tokens, u.cache_creation_input_tokens, u.cache_read_input_tokens, u.output_tokens), (80, 100, 1920, 30)); eq(u.cache_creation.ephemeral_1h_input_tokens, 40)
@check('messages: cache usage in a stream')
def _(): u = final('stub-cached').usage; eq((u.input_tokens, u.cache_creation_input_tokens, u.cache_read_input_tokens, u.output_tokens), (80, 100, 1920, 30))
for _n, _s in (('stub-cut', 'max_tokens'), ('stub-refuse', 'refusal')):
    check(f'messages: stop reason {_s}')(lambda n=_n, s=_s: eq((create(n).stop_reason, final(n).stop_reason), (s, s)))
@check('messages: events come as they are sent')
def _():
    ok(slowly('/v1/messages', {'model': m('stub-slow'), 'max_tokens': 5, 'messages': HI, 'stream': True}, ANT), 'all events at once: buffered')
@check('messages: events and blocks of tomorrow reach the client')
def _():
    f, _t = frames('POST', '/v1/messages', {'model': m('stub-unknown-events'), 'max_tokens': 5, 'messages': HI, 'stream': True}, ANT); ok('future_event' in [e for e, _d in f] and any('future_block' in d for _e, d in f), 'dropped')
for _bad in ('stub-mid', 'stub-drop'):
    check(f'messages: {_bad[5:]} within a stream is an error for the client')(lambda bad=_bad: raises(lambda: final(bad, an0), Exception))
@check('messages: anthropic-beta, anthropic-version and ?beta=true reach the upstream')
def _():
    seen(True); r = http.post('/v1/messages?beta=true', json={'model': m('stub-text'), 'max_tokens': 5, 'messages': HI}, headers={**ANT, 'anthropic-beta': 'a-2026-01-01,b-2026-01-02'}); eq(r.status_code, 200)
    h = last()['headers']; eq((h.get('anthropic-beta'), h.get('anthropic-version')), ('a-2026-01-01,b-2026-01-02', '2023-06-01'))
@check('messages: version 2026-10-21 reaches the upstream')
def _():
    http.post('/v1/messages', json={'model': m('stub-text'), 'max_tokens': 5, 'messages': HI}, headers={**ANT, 'anthropic-version': '2026-10-21'}); eq(last()['headers'].get('anthropic-version'), '2026-10-21')
@check('messages: what Claude Code sends')
def _():
    seen(True)
    body = {'model': m('stub-agent'), 'max_tokens': 32000, 'stream': True, 'system': [{'type': 'text', 'text': 'x-anthropic-billing-header: cc_version=2.1;'}, {'type': 'text', 'text': 'be brief', 'cache_control': {'type': 'ephemeral'}}],
            'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'hi', 'cache_control': {'type': 'ephemeral'}}]}, {'role': 'system', 'content': 'agents: none'}], 'tools': [{'name': 'Bash', 'description': 'run', 'input_schema': {'type': 'object', 'properties': {'command': {'type': 'string'}}, 'required': ['command']}}],
            'metadata': {'user_id': '{"device_id":"d"}'}, 'thinking': {'type': 'adaptive'}, 'context_management': {'edits': [{'type': 'clear_thinking_20251015', 'keep': 'all'}]}, 'output_config': {'effort': 'high'}}
    f, _t = frames('POST', '/v1/messages?beta=true', body, {**headers, 'authorization': 'Bearer ' + KEY, 'anthropic-version': '2023-06-01', 'anthropic-beta': 'claude-code-20250219,effort-2025-11-24', 'x-app': 'cli', 'x-claude-code-session-id': 's1'})
    eq(f[-1][0], 'message_stop'); got = last()['body']; eq({k: v for k, v in got.items() if k != 'model'}, {k: v for k, v in body.items() if k != 'model'}, 'body at the upstream')
@check('messages: key as x-api-key and as Bearer')
def _():
    for h in ({'x-api-key': KEY}, {'authorization': 'Bearer ' + KEY}): eq(http.post('/v1/messages', json={'model': m('stub-text'), 'max_tokens': 5, 'messages': HI}, headers={**headers, 'anthropic-version': '2023-06-01', **h}).status_code, 200, str(list(h)))
@check('messages: the client\'s key stays here, the upstream gets its own')
def _():
    create(); h = last()['headers']
    if not SELF: ok(KEY not in json.dumps(h), 'the gateway key was sent to the upstream'); ok('upstream-key' in (h.get('x-api-key', '') + h.get('authorization', '')), 'no upstream key')
@check('messages: request-id header')
def _(): ok(http.post('/v1/messages', json={'model': m('stub-text'), 'max_tokens': 5, 'messages': HI}, headers=ANT).headers.get('request-id'), 'no request-id')
@check('messages: count_tokens')
def _(): eq(an.messages.count_tokens(model=m('stub-text'), messages=HI).input_tokens, 12); ok('count_tokens' in last()['path'], 'path')
@check('messages: structured output (output_config) reaches the upstream')
def _(): f = {'format': {'type': 'json_schema', 'schema': {'type': 'object', 'properties': {}, 'additionalProperties': False}}}; create('stub-json', extra_body={'output_config': f}); eq(last()['body'].get('output_config'), f)
@check('messages: missing max_tokens is an invalid_request_error')
def _(): ant_error(http.post('/v1/messages', json={'model': m('stub-text'), 'messages': HI}, headers=ANT), 400, 'invalid_request_error')
@check('messages: wrong key is an authentication_error')
def _(): ant_error(http.post('/v1/messages', json={'model': m('stub-text'), 'max_tokens': 5, 'messages': HI}, headers={**ANT, 'x-api-key': 'wrong'}), 401, 'authentication_error')
@check('messages: unknown model is a not_found_error')
def _(): ant_error(http.post('/v1/messages', json={'model': PREFIX + NONE, 'max_tokens': 5, 'messages': HI}, headers=ANT), 404, 'not_found_error')
@check('messages: 429 is a rate_limit_error with Retry-After')
def _():
    r = http.post('/v1/messages', json={'model': m('stub-429'), 'max_tokens': 5, 'messages': HI}, headers=ANT); ant_error(r, 429, 'rate_limit_error'); ok(r.headers.get('retry-after'), 'no Retry-After')
@check('messages: 529 is an overloaded_error')
def _(): ant_error(http.post('/v1/messages', json={'model': m('stub-529'), 'max_tokens': 5, 'messages': HI}, headers=ANT), (529, 503), 'overloaded_error')
@check('messages: 500 of the upstream')
def _(): ant_error(http.post('/v1/messages', json={'model': m('stub-500'), 'max_tokens': 5, 'messages': HI, 'stream': True}, headers=ANT), (500, 502), 'api_error')
@check('messages: a client that retries gets its answer')
def _(): eq(create('stub-flaky', extra_headers={'x-test': str(time.time())}).content[0].text, 'Hello, world.')
@check('messages: no JSON is an invalid_request_error')
def _(): ant_error(http.post('/v1/messages', content=b'{', headers={**ANT, 'content-type': 'application/json'}), 400, 'invalid_request_error') if not SELF else None
@check('messages: HEAD / is answered (Claude Code probes it)')
def _(): ok(http.head('/').status_code < 500, 'HEAD / fails')
@check('models: the list of Anthropic for clients of Anthropic')
def _(): ids = [x.id for x in an.models.list()]; ok(m('stub-text') in ids, f'{ids[:3]}'); d = http.get('/v1/models', headers=ANT).json(); ok('has_more' in d and d['data'][0].get('type') == 'model', f'shape {list(d)}')
@check('models: the list of OpenAI for clients of OpenAI')
def _(): ok(m('stub-text') in [x.id for x in oa.models.list()], 'missing'); eq(oa.models.list().data[0].object, 'model')
@check('models: one, with a slash in its id')
def _(): eq(oa.models.retrieve(m('stub-text')).id, m('stub-text')); eq(an.models.retrieve(m('stub-text')).id, m('stub-text'))
@check('optional: messages: batches')
def _():
    try:
        b = an0.messages.batches.create(requests=[{'custom_id': 'a', 'params': {'model': m('stub-text'), 'max_tokens': 5, 'messages': HI}}]); eq(b.processing_status, 'in_progress')
    except anthropic.APIStatusError as e: ok(e.status_code in (404, 405, 501) and (e.body or {}).get('type') == 'error', f'unclear refusal: {e}')

# ------------------------------------------------------------------ embeddings, completions, moderations
V1 = [0.4547966420650482, 0.07058295607566833]
@check('embeddings: the default of the package (base64)')
def _():
    seen(True); r = oa.embeddings.create(model=m('stub-embed'), input=['a', 'b']); eq([d.index for d in r.data], [0, 1]); eq(len(r.data[0].embedding), 8)
    ok(abs(r.data[1].embedding[0] - V1[0]) < 1e-6, f'{r.data[1].embedding[:2]}'); eq(last()['body']['encoding_format'], 'base64'); eq(r.usage.prompt_tokens, 2)
@check('embeddings: base64 in the raw answer is the same numbers')
def _():
    b = http.post('/v1/embeddings', json={'model': m('stub-embed'), 'input': 'a', 'encoding_format': 'base64'}, headers=BEARER).json()['data'][0]['embedding']; f = http.post('/v1/embeddings', json={'model': m('stub-embed'), 'input': 'a'}, headers=BEARER).json()['data'][0]['embedding']
    raw = base64.b64decode(b); v = struct.unpack(f'<{len(raw) // 4}f', raw); ok(all(abs(x - y) < 1e-6 for x, y in zip(v, f)) and len(v) == len(f), 'differ')
@check('embeddings: float, dimensions, user')
def _(): r = oa.embeddings.create(model=m('stub-embed'), input='a', encoding_format='float', dimensions=3, user='u'); eq(len(r.data[0].embedding), 3); eq(last()['body'].get('user'), 'u')
@check('embeddings: an array of tokens, and of arrays (LangChain sends them)')
def _(): eq(oa.embeddings.create(model=m('stub-embed'), input=[1, 2, 3]).usage.prompt_tokens, 3); r = oa.embeddings.create(model=m('stub-embed'), input=[[1, 2, 3], [4]]); eq((len(r.data), r.usage.prompt_tokens), (2, 4)); eq(last()['body']['input'], [[1, 2, 3], [4]])
@check('embeddings: 2,048 inputs')
def _(): r = oa.embeddings.create(model=m('stub-embed'), input=['x'] * 2048); eq(len(r.data), 2048); eq(r.data[-1].index, 2047)
@check('embeddings: an empty input is a 400 of OpenAI\'s form')
def _(): e = raises(lambda: oa0.embeddings.create(model=m('stub-embed'), input=''), openai.BadRequestError); ok(e.body and e.body.get('message'), 'no message')
@check('embeddings: 429, unknown model, wrong key')
def _():
    raises(lambda: oa0.embeddings.create(model=m('stub-429'), input='a'), openai.RateLimitError); raises(lambda: oa0.embeddings.create(model=PREFIX + NONE, input='a'), openai.NotFoundError)
    raises(lambda: openai.OpenAI(base_url=URL + '/v1', api_key='wrong', max_retries=0).embeddings.create(model=m('stub-embed'), input='a'), openai.AuthenticationError)
@check('completions: text, several prompts')
def _(): r = oa.completions.create(model=m('stub-text'), prompt=['a', 'b']); eq([c.index for c in r.choices], [0, 1]); eq(r.choices[0].text, 'Hello, world.')
@check('completions: stream with usage')
def _(): c = list(oa.completions.create(model=m('stub-text'), prompt='a', stream=True, stream_options={'include_usage': True})); eq(''.join(x.choices[0].text for x in c if x.choices), 'Hello, world.'); eq(c[-1].usage.total_tokens, 16)
@check('completions: without include_usage the client sees no usage chunk')
def _(): c = list(oa.completions.create(model=m('stub-text'), prompt='a', stream=True)); ok(all(x.choices for x in c), 'a chunk without choices')
@check('optional: moderations')
def _():
    try: eq(oa0.moderations.create(model=m('stub-text'), input='a').results[0].flagged, False)
    except openai.APIStatusError as e: ok(e.status_code in (404, 405, 501) and e.body and e.body.get('message'), f'unclear refusal: {e}')
@check('chat: still as before')
def _(): eq(oa.chat.completions.create(model=m('stub-text'), messages=HI).choices[0].message.content, 'Hello, world.')
@check('optional: a gzip body')
def _():
    r = http.post('/v1/responses', content=gzip.compress(json.dumps({'model': m('stub-text'), 'input': 'hi'}).encode()), headers={**BEARER, 'content-type': 'application/json', 'content-encoding': 'gzip'}); ok(r.status_code in (200, 415), f'{r.status_code} {r.text[:100]}')

# ------------------------------------------------------------------ translation: other APIs in front of an upstream that speaks chat completions
def t(name): return TPREFIX + name
@check('translate: messages → text, usage exclusive of the cache')
def _():
    for r in (create('stub-cached', model=t('stub-cached')), final('stub-cached', model=t('stub-cached'))):
        u = r.usage; eq(r.content[0].text, 'Hello, world.'); eq(u.cache_read_input_tokens, 1920, 'cache_read_input_tokens'); eq(u.input_tokens + (u.cache_creation_input_tokens or 0) + u.cache_read_input_tokens, 2100, 'prompt in all'); eq(u.output_tokens, 30)
@check('translate: messages → tool call with its arguments, in a stream')
def _(): r = final('stub-tool', model=t('stub-tool'), tools=[ATOOL]); eq(r.stop_reason, 'tool_use'); eq([b.input for b in r.content if b.type == 'tool_use'], [{'city': 'Paris'}])
@check('translate: messages → parallel tool calls are separate blocks')
def _(): r = final('stub-tools2', model=t('stub-tools2'), tools=[ATOOL]); b = [x for x in r.content if x.type == 'tool_use']; eq(len(b), 2); ok(b[0].id != b[1].id, 'same id')
@check('translate: messages → stop reason of a cut answer')
def _(): eq(create('stub-cut', model=t('stub-cut')).stop_reason, 'max_tokens')
@check('translate: messages → events are nested rightly')
def _():
    f, _t = frames('POST', '/v1/messages', {'model': t('stub-tools2'), 'max_tokens': 5, 'messages': HI, 'tools': [ATOOL], 'stream': True}, ANT); d = [json.loads(x) for _e, x in f]; open_ = None; nxt = 0
    eq(d[0]['type'], 'message_start'); eq(d[-1]['type'], 'message_stop'); eq(d[-2]['type'], 'message_delta')
    for x in d:
        if x['type'] == 'content_block_start': eq(open_, None, 'a block is open'); eq(x['index'], nxt, 'index'); open_ = x['index']; nxt += 1
        if x['type'] == 'content_block_delta': eq(x['index'], open_, 'delta of a block that is not open')
        if x['type'] == 'content_block_stop': eq(x['index'], open_, 'stop'); open_ = None
@check('translate: messages → an error of the upstream has Anthropic\'s form')
def _(): ant_error(http.post('/v1/messages', json={'model': t('stub-429'), 'max_tokens': 5, 'messages': HI}, headers=ANT), 429, 'rate_limit_error')
@check('translate: responses → text and usage')
def _(): r = oa.responses.create(model=t('stub-cached'), input='hi', instructions='x'); eq(r.output_text, 'Hello, world.'); eq((r.usage.input_tokens, r.usage.input_tokens_details.cached_tokens, r.usage.total_tokens), (2100, 1920, 2130))
@check('translate: responses → tool call and its second turn')
def _():
    r = oa.responses.create(model=t('stub-agent'), input=HI, tools=[TOOL], store=False); fc = [o for o in r.output if o.type == 'function_call'][0]; eq(json.loads(fc.arguments), {'city': 'Paris'})
    r2 = oa.responses.create(model=t('stub-agent'), tools=[TOOL], store=False, input=[*HI, {'type': 'function_call', 'call_id': fc.call_id, 'name': fc.name, 'arguments': fc.arguments}, {'type': 'function_call_output', 'call_id': fc.call_id, 'output': 'sunny'}]); eq(r2.output_text, 'Hello, world.')
@check('translate: responses → stream that the helper understands')
def _():
    with oa.responses.stream(model=t('stub-tools2'), input='hi', tools=[TOOL]) as s:
        ids = {e.response.id for e in s if getattr(e, 'response', None)}; eq(len([o for o in s.get_final_response().output if o.type == 'function_call']), 2); eq(len(ids), 1, 'one response id in all events')

# ------------------------------------------------------------------ records (only where the product names the call)
def record(call):
    for _i in range(40):
        r = http.post('/call/read', json={'project_id': PROJECT or 'x/y', 'id': call}, headers={'authorization': 'Basic ' + base64.b64encode(f'api:{KEY}'.encode()).decode()})
        c = r.json().get('call') if r.status_code == 200 else None
        if c and (c.get('summary') or {}).get('usage'): return c
        time.sleep(0.25)
    raise AssertionError(f'no record of {call}: {r.status_code} {r.text[:100]}')
def recorded(path, body, head, op, want):
    with http.stream('POST', path, json=body, headers=head) as r:
        eq(r.status_code, 200, 'status'); call = r.headers.get('tallytree-call-id'); r.read()
    ok(call, 'no Tallytree-Call-Id'); c = record(call); eq(c['op_name'].split('/')[-1].split(':')[0], op, 'op'); u = c['summary']['usage'].get(body['model']); ok(u, f'usage under {list(c["summary"]["usage"])}')
    eq({k: u.get(k) or 0 for k in want}, want)
CACHED = {'prompt_tokens': 2100, 'completion_tokens': 30, 'total_tokens': 2130, 'cache_read_input_tokens': 1920}
for _stream in (False, True):
    _w = ', streamed' if _stream else ''
    check(f'record: responses{_w}')(lambda s=_stream: recorded('/v1/responses', {'model': m('stub-cached'), 'input': 'hi', 'stream': s}, BEARER, 'openai.responses.create', {**CACHED, 'cache_creation_input_tokens': 100}))
    check(f'record: messages{_w}')(lambda s=_stream: recorded('/v1/messages', {'model': m('stub-cached'), 'max_tokens': 5, 'messages': HI, 'stream': s}, ANT, 'anthropic.messages.create', {**CACHED, 'cache_creation_input_tokens': 100}))
check('record: embeddings')(lambda: recorded('/v1/embeddings', {'model': m('stub-embed'), 'input': [[1, 2, 3], [4]]}, BEARER, 'openai.embeddings.create', {'prompt_tokens': 4, 'completion_tokens': 0, 'total_tokens': 4}))

# ------------------------------------------------------------------ CLIs
def cli(args, env):
    with tempfile.TemporaryDirectory(dir=os.environ.get('CLI_HOME')) as d:
        os.makedirs(d + '/.codex'); open(d + '/.codex/config.toml', 'w').write(f'model = "{m("stub-agent")}"\nmodel_provider = "gw"\n[model_providers.gw]\nname = "gw"\nbase_url = "{URL}/v1"\nenv_key = "GW_KEY"\nwire_api = "responses"\n[analytics]\nenabled = false\n')
        os.makedirs(d + '/work'); subprocess.run(['git', 'init', '-q', d + '/work'])
        e = {k: v for k, v in os.environ.items() if not k.startswith(('ANTHROPIC', 'OPENAI', 'CLAUDE'))}
        return subprocess.run(args, cwd=d + '/work', env={**e, 'HOME': d, **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
if os.environ.get('CLI') == '1':
    @check('cli: codex exec, with a tool call')
    def _():
        seen(True); p = cli([shutil.which('codex') or 'codex', 'exec', '--json', '--skip-git-repo-check', '--sandbox', 'danger-full-access', 'say hi'], {'GW_KEY': KEY}); ok('"turn.completed"' in p.stdout and 'Hello, world.' in p.stdout, (p.stdout + p.stderr)[-300:]); eq(len(seen()), 2, 'requests')
    @check('cli: claude -p, with a tool call')
    def _():
        seen(True); p = cli([shutil.which('claude') or 'claude', '-p', 'say hi', '--output-format', 'json', '--allowedTools', 'Bash(echo:*)'], {'ANTHROPIC_BASE_URL': URL, 'ANTHROPIC_AUTH_TOKEN': KEY, 'ANTHROPIC_MODEL': m('stub-agent'), 'ANTHROPIC_SMALL_FAST_MODEL': m('stub-text'), 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1', 'IS_SANDBOX': '1'})
        r = json.loads(p.stdout.strip().splitlines()[-1]); eq((r['is_error'], r['result']), (False, 'Hello, world.'))

def main():
    stub = subprocess.Popen(['node', os.path.join(HERE, '../gateway-clients/stub_upstream.mjs')], env={**os.environ, 'PORT': str(PORT), 'EXPECT_KEY': 'upstream-key', 'REFERENCE': '1' if SELF else '0'}, stdout=subprocess.PIPE)
    stub.stdout.readline()
    threading.Thread(target=stub.stdout.read, daemon=True).start()
    passed = failed = 0
    try:
        if os.environ.get('SETUP'): subprocess.run([os.environ['SETUP']], check=True, env={**os.environ, 'STUB_URL': STUB, 'MODELS': ' '.join(MODELS)})
        for name, f in checks:
            if os.environ.get('ONLY') and not re.search(os.environ['ONLY'], name): continue
            try: f(); passed += 1; print('ok   ', name, flush=True)
            except Exception as e: failed += 1; print('FAIL ', name, '-', f'{"" if isinstance(e, AssertionError) else type(e).__name__ + ": "}{str(e)[:220]}', flush=True)
    finally: stub.terminate()
    print(f'{passed} passed, {failed} failed'); sys.exit(1 if failed else 0)
main()

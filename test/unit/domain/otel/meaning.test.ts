import { deepStrictEqual } from 'node:assert/strict'
import { meaningOf } from '../../../../src/domain/otel/meaning.js'
import { aResource, aScope, aSpan, anEvent, meaning } from './arbitrary.js'

const ERROR = { status: { code: 2, message: '' } }
const failure = anEvent('exception', {
  'exception.type': 'ValueError',
  'exception.message': 'bad',
  'exception.stacktrace': 'Traceback\nValueError: bad',
})

describe('the exception of a span', () => {
  it('is that of its last event, though the status has no message', () => {
    const first = anEvent('exception', { 'exception.message': 'first' })
    deepStrictEqual(
      meaning({}, { ...ERROR, events: [first, failure] }).exception,
      'Traceback\nValueError: bad',
    )
  })

  it('begins with the message where the stack trace lacks it', () => {
    const cut = anEvent('exception', { ...failure.attributes, 'exception.stacktrace': 'Traceback' })
    deepStrictEqual(meaning({}, { ...ERROR, events: [cut] }).exception, 'ValueError: bad\nTraceback')
  })

  it('is the message of the status, the type of the error, or a word', () => {
    const attributes = { 'error.type': 'BadRequestError' }
    deepStrictEqual(meaning(attributes, { status: { code: 2, message: 'no' } }).exception, 'no')
    deepStrictEqual(meaning(attributes, ERROR).exception, 'BadRequestError')
    deepStrictEqual(meaning({}, ERROR).exception, 'error')
  })

  it('is null where it was handled', () => {
    for (const code of [0, 1])
      deepStrictEqual(meaning({}, { status: { code, message: '' }, events: [failure] }).exception, null)
  })
})

describe('the attributes of a call', () => {
  it('are all of the span where none is known', () => {
    const attributes = { 'http.method': 'GET', a: 1, 'a.b': 2, 'weave.source': 'python-sdk' }
    deepStrictEqual(meaning({ ...attributes, weave: { source: 'python-sdk' } }).attributes, {
      'http.method': 'GET',
      a: 1,
      'a.b': 2,
    })
  })

  it('do not take over the source of the SDK weave', () => {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'weave.source': 'python-sdk',
      'wandb.attributes': { weave: { source: 'python-sdk' }, team: 'search' },
    }
    deepStrictEqual(meaning(attributes).attributes, { team: 'search', kind: 'model', operation: 'chat' })
  })

  it('have tags and metadata in one form', () => {
    const of = (attributes: Parameters<typeof meaning>[0]) => meaning(attributes).attributes
    deepStrictEqual(of({ 'langsmith.span.tags': 'a, b' })['tags'], ['a', 'b'])
    deepStrictEqual(of({ 'langfuse.trace.tags': ['a', 'b'] })['tags'], ['a', 'b'])
    deepStrictEqual(of({ 'langfuse.trace.metadata.plan': '"pro"' })['metadata'], { plan: 'pro' })
    deepStrictEqual(of({ metadata: '{"plan": "pro"}' })['metadata'], { plan: 'pro' })
    deepStrictEqual(of({ 'mlflow.spanType': '"TOOL"' })['kind'], 'tool')
  })

  it('keep the parameters that are valid where one convention has no JSON', () => {
    const attributes = { 'llm.invocation_parameters': '{"temp', 'gen_ai.request.temperature': 0 }
    deepStrictEqual(meaning(attributes).attributes, { model_parameters: { temperature: 0 } })
  })

  it('have the environment and the release of the process', () => {
    const resource = aResource({
      'deployment.environment': 'old',
      'deployment.environment.name': 'test',
      'service.version': '1.2.3',
    })
    deepStrictEqual(meaningOf(aSpan({ 'user.id': 'u' }), aScope, resource).attributes, {
      user: 'u',
      environment: 'test',
      release: '1.2.3',
    })
  })

  it('have what an evaluation of the SDK weave says', () => {
    deepStrictEqual(meaning({ 'weave.eval.run_id': 'r', 'weave.eval.trial_index': 0 }).attributes, {
      evaluation: { run_id: 'r', trial_index: 0 },
    })
  })

  it('have the time to the first token in milliseconds', () => {
    const time = (attributes: Parameters<typeof meaning>[0], events = [anEvent('other', {})]) =>
      meaning(attributes, { events }).attributes['time_to_first_token_ms']
    deepStrictEqual(time({ 'gen_ai.response.time_to_first_chunk': 0.5 }), 500)
    deepStrictEqual(time({ 'ai.response.msToFirstChunk': 30.5 }), 30.5)
    const start = { 'langfuse.observation.completion_start_time': '"2025-10-09T08:53:20.250000Z"' }
    deepStrictEqual(time(start), 250)
    deepStrictEqual(time({}, [anEvent('First Token Stream Event', {}, 1_760_000_000_001_000_000n)]), 1)
  })

  it('skip the provider that LangSmith makes up, and the API that the AI SDK adds', () => {
    const attributes = { 'gen_ai.system': 'langchain', 'langsmith.metadata.ls_provider': 'openai' }
    deepStrictEqual(meaning(attributes).attributes['provider'], 'openai')
    deepStrictEqual(meaning({ 'ai.model.provider': 'openai.chat' }).attributes['provider'], 'openai')
    deepStrictEqual(meaning({ 'gen_ai.provider.name': 'gcp.gemini' }).attributes['provider'], 'gcp.gemini')
  })
})

describe('what a span says about its call', () => {
  it('is in the thread of its conversation, else of its session', () => {
    const session = { 'session.id': 's' }
    deepStrictEqual(meaning(session).threadId, 's')
    deepStrictEqual(meaning({ ...session, 'gen_ai.conversation.id': 'c' }).threadId, 'c')
    deepStrictEqual(
      meaning({ ...session, 'gen_ai.conversation.id': 'c', 'wandb.thread_id': 't' }).threadId,
      't',
    )
  })

  it('is of a run with a legal id', () => {
    const attributes = { 'wandb.wb_run_id': 'r1', 'wandb.wb_run_step': 3, 'wandb.wb_run_step_end': '4' }
    deepStrictEqual(meaning(attributes).run, { id: 'r1', step: 3, stepEnd: 4 })
    for (const id of ['a/b', 'a:b', '']) deepStrictEqual(meaning({ 'wandb.wb_run_id': id }).run.id, null)
  })

  it('has the times of old SDKs', () => {
    const { start, end } = meaning({
      'langfuse.startTime': '2025-10-09T08:53:20.000001Z',
      'langfuse.endTime': 'later',
    })
    deepStrictEqual([start, end], [1_760_000_000_000_001_000n, null])
  })

  it('has a name to display where the name of the span is a template', () => {
    deepStrictEqual(
      meaning({ 'logfire.msg': 'answer Oslo' }, { name: 'answer {q}' }).displayName,
      'answer Oslo',
    )
    deepStrictEqual(meaning({ 'logfire.msg': 'step' }, { name: 'step' }).displayName, null)
    deepStrictEqual(meaning({ 'gen_ai.tool.name': 'f' }, { name: 'execute_tool' }).displayName, 'f')
    const trace = { 'langfuse.trace.name': 'trace' }
    deepStrictEqual(meaning(trace).displayName, 'trace')
    deepStrictEqual(meaning(trace, { parentSpanId: '1'.repeat(16) }).displayName, null)
  })

  it('is below the call of the SDK weave that encloses it', () => {
    const attributes = { 'weave.parent_call.id': 'c', 'weave.parent_call.trace_id': 't' }
    deepStrictEqual(meaning(attributes).parentCall, { id: 'c', traceId: 't' })
    deepStrictEqual(meaning({ 'weave.parent_call.id': 'c' }).parentCall, null)
  })

  it('is a placeholder of Logfire', () => {
    deepStrictEqual(meaning({ 'logfire.span_type': 'pending_span' }).isPlaceholder, true)
    deepStrictEqual(meaning({ 'logfire.span_type': 'span' }).isPlaceholder, false)
  })
})

import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'

export interface Detail {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

/** The problems of a 422, whose shape is checked. */
const detailOf = (answer: Answered): readonly Detail[] => {
  assert.equal(answer.status, 422, answer.text.slice(0, 200))
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
  const body = answer.json<{ detail: readonly Detail[] }>()
  assert.deepEqual(Object.keys(body), ['detail'])
  assert.ok(body.detail.length > 0)
  for (const one of body.detail) {
    assert.deepEqual(
      Object.keys(one)
        .filter((key) => key !== 'ctx')
        .sort(),
      ['loc', 'msg', 'type'],
    )
    assert.ok(one.loc.every((part) => typeof part === 'string' || Number.isInteger(part)))
    assert.ok(typeof one.msg === 'string' && one.msg !== '' && /^[a-z0-9_]+$/.test(one.type))
  }
  return body.detail
}

/** The problems of a 422 about the body, one a line: type and place. */
export const told = (answer: Answered): readonly string[] =>
  detailOf(answer).map(({ loc: [root, ...rest], type }) => {
    assert.equal(root, 'body')
    return `${type} ${rest.join('.')}`
  })

/** The reason of any other refusal. */
export const reasonOf = (answer: Answered, status: number): string => {
  assert.equal(answer.status, status, answer.text.slice(0, 200))
  const { reason } = answer.json()
  assert.ok(typeof reason === 'string' && reason !== '')
  return reason
}

/** The same of an endpoint under `/v1`, which tells it as clients of chat completions read it. */
export const messageOf = (answer: Answered, status: number): string => {
  assert.equal(answer.status, status, answer.text.slice(0, 200))
  const { error, detail } = answer.json<{ error: { message: string }; detail: unknown }>()
  assert.equal(detail, error.message)
  return error.message
}

/** The same of an endpoint of Anthropic's API. */
export const anthropicMessageOf = (answer: Answered, status: number): string => {
  assert.equal(answer.status, status, answer.text.slice(0, 200))
  return answer.json<{ error: { message: string } }>().error.message
}

/** The same of a receiver of OpenTelemetry, a `google.rpc.Status`. */
export const statusMessageOf = (answer: Answered, status: number): string => {
  assert.equal(answer.status, status, answer.text.slice(0, 200))
  return answer.json<{ message: string }>().message
}

export const accepted = (answer: Answered): JsonObject => {
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  return answer.json()
}

/** The elements of a batch that an answer names as not recorded, one a line: type, index and place. */
export const rejectedIn = (answer: Answered): readonly string[] => {
  const { rejected = [] } = accepted(answer) as { readonly rejected?: readonly Detail[] }
  assert.equal(answer.headers.get('tallytree-refused'), rejected.length === 0 ? null : `${rejected.length}`)
  return rejected.map(({ loc: [root, list, ...rest], type }) => {
    assert.deepEqual([root, list], ['body', 'batch'])
    return `${type} ${rest.join('.')}`
  })
}

export const eventsOf = async (service: TestService, stream: string): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for await (const event of service.stores.eventStore.readStream(stream)) events.push(event)
  return events
}

/** What was kept of the refused elements of a project, in the order of the log. */
export const refusedElementsOf = async (
  service: TestService,
  project: string,
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for await (const event of service.stores.eventStore.readAll())
    if (event.stream.startsWith(`intake-${project}/`)) events.push(event)
  return events
}

export const typesOf = async (service: TestService, project: string, id: string) =>
  (await eventsOf(service, `call-${project}/${id}`)).map(({ type }) => type)

/**
 * Runs a task that leaves the log as it is, apart from what is recorded in the background: uses of keys, and other tests'
 * evaluations and leases that expire. Their calls through the gateway look like those of a request, so the task is then run again.
 */
export const writesNothing = async (service: TestService, task: () => Promise<unknown>): Promise<void> => {
  const written = await writtenMeanwhile(service, task)
  const isOfGateway = written.length > 0 && written.every(({ metadata }) => metadata.part === 'inference')
  const again = isOfGateway ? await writtenMeanwhile(service, task) : written
  assert.deepEqual(
    again.map(({ type }) => type),
    [],
  )
}

const IN_BACKGROUND = new Set(['EvaluationRunFinished', 'ApiKeyUsed', 'TrainingLeaseEnded'])

const writtenMeanwhile = async (
  service: TestService,
  task: () => Promise<unknown>,
): Promise<readonly RecordedEvent[]> => {
  const { eventStore } = service.stores
  const after = await eventStore.head()
  await task()
  const written: RecordedEvent[] = []
  for await (const event of eventStore.readAll({ after })) {
    const { correlationId, causationId } = event.metadata
    // A request is its own cause.
    if (!IN_BACKGROUND.has(event.type) && correlationId === causationId) written.push(event)
  }
  return written
}

/** A member of an answer that is a text. */
export const textIn = (body: JsonObject, member: string): string => {
  const text = body[member]
  assert.ok(typeof text === 'string', member)
  return text
}

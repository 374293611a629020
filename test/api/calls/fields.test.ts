import assert from 'node:assert/strict'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { aCompleted, anEnd, aStart, startItem, endItem } from '../../support/call-requests.js'
import { accepted, refusedElementsOf, textIn, told } from './given.js'

const CANARY = 'CANARY-4f1d9'

/** Kinds of JSON values, each with something that an answer could quote. */
const VALUES = {
  text: CANARY,
  empty: '',
  integer: 7919_7919,
  fraction: 7919.7919,
  boolean: true,
  null: null,
  list: [CANARY],
  object: { [CANARY]: CANARY },
  date: '2026-01-01T00:00:00Z',
} as const

type Kind = keyof typeof VALUES

const TEXT: readonly Kind[] = ['text', 'empty', 'date']
const ID: readonly Kind[] = ['text', 'date']
const MAYBE_ID: readonly Kind[] = ['text', 'date', 'empty', 'null']
const MAYBE_INTEGER: readonly Kind[] = ['integer', 'null']
const OBJECT: readonly Kind[] = ['object']
const ANYTHING = Object.keys(VALUES) as readonly Kind[]

const STARTED = {
  project_id: [],
  op_name: TEXT,
  started_at: ['date'],
  attributes: OBJECT,
  inputs: OBJECT,
} as const
const STARTED_OPTIONAL = {
  id: MAYBE_ID,
  display_name: [...TEXT, 'null'],
  trace_id: MAYBE_ID,
  parent_id: MAYBE_ID,
  thread_id: MAYBE_ID,
  turn_id: MAYBE_ID,
  otel_dump: ['object', 'null'],
  wb_user_id: [...TEXT, 'null'],
  wb_run_id: MAYBE_ID,
  wb_run_step: MAYBE_INTEGER,
} as const
const ENDED = { project_id: [], id: ID, ended_at: ['date'], summary: OBJECT } as const
const ENDED_OPTIONAL = {
  output: ANYTHING,
  exception: [...TEXT, 'null'],
  wb_run_step_end: MAYBE_INTEGER,
  // Newer clients send these; the start says the same.
  trace_id: ANYTHING,
  started_at: ANYTHING,
  is_eval: ANYTHING,
  display_name: ANYTHING,
} as const

interface Part {
  readonly name: string
  readonly valid: (project: string) => Record<string, unknown>
  readonly required: Readonly<Record<string, readonly Kind[]>>
  readonly optional: Readonly<Record<string, readonly Kind[]>>
  readonly send: (service: TestService, value: unknown, project: string) => Promise<Answered>
  /** Where the part stands in the body. */
  readonly at: string
}

const parts: readonly Part[] = [
  {
    name: '/call/start',
    valid: (project) => aStart(project),
    required: STARTED,
    optional: STARTED_OPTIONAL,
    send: (service, start) => service.post('/call/start', { start }),
    at: 'start',
  },
  {
    name: '/v2/…/call/start',
    valid: (project) => aStart(project),
    required: STARTED,
    optional: STARTED_OPTIONAL,
    send: (service, start, project) => service.post(`/v2/${project}/call/start`, { start }),
    at: 'start',
  },
  {
    name: '/call/end',
    valid: (project) => anEnd(project, 'some-call'),
    required: ENDED,
    optional: ENDED_OPTIONAL,
    send: (service, end) => service.post('/call/end', { end }),
    at: 'end',
  },
]

for (const { name, valid, required, optional, send, at } of parts)
  describe(`each field of ${name}`, () => {
    let service: TestService
    before(async () => (service = await sharedService()))

    for (const [field, kinds] of Object.entries({ ...required, ...optional }))
      it(`${field} is taken as ${kinds.join(', ')} and never as anything else`, async () => {
        for (const kind of Object.keys(VALUES) as Kind[]) {
          const project = someProject()
          const answer = await send(service, { ...valid(project), [field]: VALUES[kind] }, project)
          if (kinds.includes(kind)) accepted(answer)
          else {
            const [first] = told(answer)
            assert.match(first!, new RegExp(` ${at}\\.${field}$`), `${kind}: ${first}`)
            assert.equal(answer.text.includes(CANARY), false, kind)
            assert.equal(answer.text.includes('7919'), false, kind)
          }
        }
      })

    for (const field of Object.keys(required))
      it(`${field} cannot be left out`, async () => {
        const project = someProject()
        const { [field]: _, ...rest } = valid(project)
        assert.deepEqual(told(await send(service, rest, project)), [`missing ${at}.${field}`])
      })

    it('is told of all problems at once', async () => {
      const answer = told(await send(service, {}, someProject()))
      assert.deepEqual(
        answer,
        Object.keys(required).map((field) => `missing ${at}.${field}`),
      )
    })

    it('may stand beside keys that nobody knows', async () => {
      const project = someProject()
      const more = JSON.parse('{"unknown": 1, "__proto__": {"op_name": 1}, "constructor": null}') as object
      accepted(await send(service, { ...valid(project), ...more }, project))
    })

    for (const value of [null, 'x', 7, true, [], [{}]])
      it(`does not stand in ${JSON.stringify(value)}`, async () =>
        assert.deepEqual(told(await send(service, value, someProject())), [`model_attributes_type ${at}`]))
  })

describe('in a batch each field', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const batches = [
    {
      name: 'of a start',
      required: STARTED,
      optional: STARTED_OPTIONAL,
      valid: (project: string) => aStart(project),
      body: (part: unknown) => startItem(part),
      at: 'req.start.',
    },
    {
      name: 'of an end',
      required: ENDED,
      optional: ENDED_OPTIONAL,
      valid: (project: string) => anEnd(project, 'some-call'),
      body: (part: unknown) => endItem(part),
      at: 'req.end.',
    },
    {
      name: 'of a completed call',
      required: { ...STARTED, ...ENDED, trace_id: ID },
      optional: {
        ...STARTED_OPTIONAL,
        ...ENDED_OPTIONAL,
        id: ID,
        trace_id: ID,
        started_at: ['date'],
        display_name: [...TEXT, 'null'],
      },
      valid: (project: string) => aCompleted(project),
      body: (part: unknown) => part,
      at: '',
    },
  ] as const
  for (const { name, required, optional, valid, body, at } of batches)
    it(`${name} refuses the element alone, and says where`, async () => {
      const project = someProject()
      const path = at === '' ? `/v2/${project}/calls/complete` : '/call/upsert_batch'
      const expected: string[] = []
      const batch: unknown[] = []
      const all: Readonly<Record<string, readonly Kind[]>> = { ...optional, ...required }
      for (const [field, kinds] of Object.entries(all)) {
        const { [field]: _, ...without } = valid(project) as Record<string, unknown>
        if (field in required) {
          expected.push(`missing body.batch.${batch.length}.${at}${field}`)
          batch.push(body(without))
        }
        for (const kind of Object.keys(VALUES) as Kind[]) {
          if (kinds.includes(kind)) continue
          expected.push(`body.batch.${batch.length}.${at}${field}`)
          batch.push(body({ ...valid(project), [field]: VALUES[kind] }))
        }
      }
      const good = valid(project)
      batch.push(body(good))

      const answer = await service.post(path, { batch })

      accepted(answer)
      assert.equal(answer.headers.get('tallytree-refused'), String(expected.length))
      const refused = await refusedElementsOf(service, project)
      assert.equal(refused.length, expected.length)
      refused.forEach(({ data }, index) => {
        const loc = (data['loc'] as readonly string[]).join('.')
        const said = expected[index]!.startsWith('missing ') ? `${textIn(data, 'type')} ${loc}` : loc
        assert.equal(said, expected[index])
        assert.equal(textIn(data, 'msg').includes(CANARY), false)
        assert.deepEqual(JSON.parse(data['raw'] as string), batch[Number(loc.split('.')[2])])
      })
    })

  it('is kept as it came, but not logged', () =>
    assert.equal(JSON.stringify(service.logged).includes(CANARY), false))
})

import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { JSON_TYPE, sendBytes } from '../http/raw.js'
import { itInFull } from '../../counts.js'
import { sharedService, someProject } from '../shared-service.js'
import { aCompleted, anEnd, arbitraryCallId, aStart, startItem } from '../../support/call-requests.js'
import { accepted, refusedElementsOf, reasonOf, told, writesNothing } from './given.js'

const nested = (levels: number, open = '[', close = ']'): string => open.repeat(levels) + close.repeat(levels)

/** JSON text of a value, with raw text in place of `"<raw>"`. */
const withRaw = (value: unknown, raw: string): string => JSON.stringify(value).replace('"<raw>"', () => raw)

describe('a payload of odd text', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const texts: Readonly<Record<string, string>> = {
    NUL: 'a\u0000b',
    'all controls': Array.from({ length: 33 }, (_, i) => String.fromCharCode(i)).join(''),
    'quotes and backslashes': `"'\\\\"\\'`,
    SQL: `'; DROP TABLE calls; -- \\' {project:String} %s ?`,
    'line separators': '\u2028\u2029\u0085',
    'the last characters': '\uffff\ufffe\u{10ffff}',
    'a byte order mark': '\ufeffx',
    'right-to-left': '\u202eabc',
    emoji: '👩‍👩‍👧‍👦',
    'a template': '{x} {{y}} ${z} %00 \\N',
  }
  for (const [name, text] of Object.entries(texts))
    it(`is read back as it came: ${name}`, async () => {
      const project = someProject()
      const start = aStart(project, {
        op_name: text,
        display_name: text,
        attributes: { [text]: text },
        inputs: { [text]: [text] },
        otel_dump: { [text]: text },
      })
      await service.calls.start(start).json()
      const end = anEnd(project, start.id, { output: text, exception: text, summary: { [text]: text } })
      accepted(await service.post('/call/end', { end }))
      const call = await service.in(project).calls.read(start.id)
      const { summary, ...rest } = call
      assert.deepEqual(
        [
          rest.op_name,
          rest.display_name,
          rest.attributes,
          rest.inputs,
          rest.otel_dump,
          rest.output,
          rest.exception,
        ],
        [text, text, { [text]: text }, { [text]: [text] }, { [text]: text }, text, text],
      )
      assert.equal(summary[text], text)
    })

  it('has U+FFFD in place of half a surrogate pair, in ids, names, keys and values', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const body = JSON.stringify({
      start: aStart(project, { id: 'i<', op_name: 'o<', inputs: { 'k<': ['v<', 'ok'] } }),
    })
    const answer = await service.post('/call/start', body.replaceAll('<', '\\ud83d'))
    assert.deepEqual(accepted(answer), { id: 'i\ufffd', trace_id: 'i\ufffd' })
    const call = await calls.read('i\ufffd')
    assert.deepEqual([call.op_name, call.inputs], ['o\ufffd', { 'k\ufffd': ['v\ufffd', 'ok'] }])
    const whole = body.replace('"i<"', '"j"').replaceAll('<', '\\ud83d\\ude00')
    accepted(await service.post('/call/start', whole))
    assert.equal((await calls.read('j')).op_name, 'o😀')
  })

  it('accepts arbitrary keys, including names of Object.prototype members', async () => {
    const project = someProject()
    const raw = '{"__proto__": {"a": 1}, "constructor": 2, "toString": null, "": [], "hasOwnProperty": "x"}'
    const body = withRaw({ start: aStart(project, { id: 'keys', inputs: '<raw>' }) }, raw)
    accepted(await service.post('/call/start', body))
    accepted(await service.post('/call/start', body))
    const { inputs } = await service.in(project).calls.read('keys')
    assert.deepEqual(Object.entries(inputs), Object.entries(JSON.parse(raw) as object))
  })
})

describe('a payload of odd numbers', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('is kept as a double holds it, and the words NaN and Infinity for what is none', async () => {
    const project = someProject()
    const raw = '[0, -0, 1.0, 1e0, 0.1, 1e21, 5e-324, 1e-400, 9007199254740993, 1e400, -1e999, NaN]'
    const body = withRaw({ start: aStart(project, { id: 'numbers', inputs: { a: '<raw>' } }) }, raw)
    accepted(await service.post('/call/start', body))
    await writesNothing(service, async () => accepted(await service.post('/call/start', body)))
    const { inputs } = await service.in(project).calls.read('numbers')
    assert.deepEqual(inputs, {
      a: [0, 0, 1, 1, 0.1, 1e21, 5e-324, 0, 9007199254740992, 'Infinity', '-Infinity', 'NaN'],
    })
  })

  const steps: readonly (readonly [string, boolean])[] = [
    ['0', true],
    ['-0', true],
    ['1.0', true],
    ['1e3', true],
    ['9007199254740992', true],
    ['-9223372036854775808', true],
    ['9223372036854774784', true],
    ['9223372036854775808', false],
    ['-9223372036854777856', false],
    ['1e19', false],
    ['1e400', false],
    ['-1e400', false],
    ['0.5', false],
    ['1e-400', true],
    ['123456789012345678901234567890', false],
  ]
  for (const [raw, taken] of steps)
    it(`${taken ? 'takes' : 'does not take'} ${raw} for a step`, async () => {
      const project = someProject()
      const start = withRaw({ start: aStart(project, { id: 'step', wb_run_step: '<raw>' }) }, raw)
      const end = withRaw({ end: anEnd(project, 'step', { wb_run_step_end: '<raw>' }) }, raw)
      const answers = [await service.post('/call/start', start), await service.post('/call/end', end)]
      if (!taken) {
        assert.deepEqual(answers.map(told), [
          ['int_type start.wb_run_step'],
          ['int_type end.wb_run_step_end'],
        ])
        return
      }
      answers.forEach(accepted)
      const call = await service.in(project).calls.read('step')
      assert.deepEqual([call.wb_run_step, call.wb_run_step_end], [Number(raw) + 0, Number(raw) + 0])
    })
})

describe('a date', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  for (const [text, read] of [
    ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00.000000Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['2299-12-31T23:59:59.999999Z', '2299-12-31T23:59:59.999999Z'],
    ['2024-02-29T12:00:00.000001+05:45', '2024-02-29T06:15:00.000001Z'],
    ['2026-01-01', '2026-01-01T00:00:00.000000Z'],
  ] as const)
    it(`is read back to the microsecond: ${text}`, async () => {
      const project = someProject()
      const { calls } = service.in(project)
      await calls.start({ id: 'd', started_at: text }).json()
      await calls.end('d', { ended_at: text }).json()
      const { started_at, ended_at, summary } = await calls.read('d')
      assert.deepEqual([started_at, ended_at, summary.weave.latency_ms], [read, read, 0])
    })

  for (const text of [
    '0026-01-01T00:00:00Z',
    '1899-12-31',
    '2300-01-01',
    '2026-02-30',
    '1700000000',
    '',
    'now',
    '٢٠٢٦-01-01',
  ])
    it(`is not ${JSON.stringify(text)}`, async () => {
      const { started_at: _, ...rest } = aStart(someProject())
      const answer = await service.post('/call/start', { start: { ...rest, started_at: text } })
      assert.deepEqual(told(answer), ['datetime_from_date_parsing start.started_at'])
    })
})

describe('a payload that nests', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  // The envelope, the start and the inputs are three levels.
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
    it(`in ${open} is kept up to 256 levels`, async () => {
      const project = someProject()
      const inner = open === '[' ? '' : '1'
      const raw = open.repeat(253) + inner + close.repeat(253)
      const body = withRaw({ start: aStart(project, { id: 'deep', inputs: { a: '<raw>' } }) }, raw)
      accepted(await service.post('/call/start', body))
      accepted(await service.post('/call/start', body))
      assert.equal(JSON.stringify((await service.in(project).calls.read('deep')).inputs.a), raw)
    })

  for (const levels of [254, 1000, 100_000])
    it(`${levels + 3} levels deep is refused`, async () => {
      for (const path of ['/call/start', '/obj/create', '/calls/query', '/api/teams']) {
        const body = `{"start": {"inputs": {"a": ${nested(levels)}}}}`
        assert.deepEqual(told(await service.post(path, body)), ['recursion_depth start.inputs.a.0'])
      }
    })

  it('too deep in a batch is refused alone, and stored without what is below 1,000 levels', async () => {
    const project = someProject()
    const item = (levels: number, id: string) =>
      withRaw(startItem(aStart(project, { id, inputs: { a: '<raw>' } })), nested(levels))
    // The envelope, the batch, the element, its request, the start and the inputs are six.
    const batch = [
      item(1, 'a'),
      item(250, 'b'),
      item(251, 'c'),
      item(100_000, 'd'),
      nested(100_000),
      item(2, 'e'),
    ]
    const answer = await service.post('/call/upsert_batch', `{"batch": [${batch.join(', ')}]}`)
    const { res } = accepted(answer)
    assert.deepEqual(
      (res as { id?: string }[]).map(({ id }) => id),
      ['a', 'b', 'c', 'd', undefined, 'e'],
    )
    assert.equal(answer.headers.get('tallytree-refused'), '3')
    const refused = await refusedElementsOf(service, project)
    assert.deepEqual(
      refused.map(({ data }) => [data['type'], (data['loc'] as unknown[]).join('.')]),
      [2, 3, 4].map((place) => ['recursion_depth', `body.batch.${place}`]),
    )
    const stored = refused.map(({ data }) => data['raw'] as string)
    assert.equal(stored[0], batch[2])
    for (const raw of stored.slice(1)) assert.ok(raw.split('[').length <= 1001)
    for (const id of ['a', 'b', 'e']) assert.ok(await service.in(project).calls.read(id))
  })
})

describe('a payload of many megabytes', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const LONG = 'x'.repeat(10_000_000)

  itInFull('is kept in every field that may be long', async () => {
    const project = someProject()
    const id = arbitraryCallId()
    const start = aStart(project, { id, inputs: { a: LONG }, attributes: { b: LONG } })
    await service.calls.start(start).json()
    const end = anEnd(project, id, { output: [LONG], exception: LONG })
    accepted(await service.post('/call/end', { end }))
    await writesNothing(service, async () => accepted(await service.post('/call/end', { end })))
    const call = await service.in(project).calls.read(id)
    assert.ok(call.inputs.a === LONG && call.attributes.b === LONG && call.output[0] === LONG)
    assert.ok(call.exception === LONG && call.summary.weave.status === 'error')
  })

  for (const [field, type] of [
    ['op_name', 'string_too_long'],
    ['display_name', 'string_too_long'],
    ['id', 'string_too_long'],
    ['trace_id', 'string_too_long'],
    ['started_at', 'datetime_from_date_parsing'],
    ['project_id', 'string_pattern_mismatch'],
  ] as const)
    it(`is too much for ${field}`, async () => {
      const answer = await service.in(someProject()).calls.start({ [field]: LONG })
      assert.deepEqual(told(answer), [`${type} start.${field}`])
    })

  it('refused in a batch is kept beside the event', async () => {
    const project = someProject()
    const item = startItem(aStart(project, { op_name: LONG }))
    accepted(await service.post('/call/upsert_batch', { batch: [item] }))
    const [refused] = await refusedElementsOf(service, project)
    const { raw, raw_blob } = refused!.data as { raw: unknown; raw_blob: { digest: string; size: number } }
    assert.equal(raw, null)
    const kept = await service.stores.blobs.get(raw_blob.digest)
    assert.equal(raw_blob.size, kept?.length)
    assert.deepEqual(JSON.parse(Buffer.from(kept!).toString()), item)
  })

  it('is a completed call whatever its parts weigh', async () => {
    const project = someProject()
    const part = (bytes: number) => ({ a: 'y'.repeat(bytes) })
    const sizes = [0, 100_000, 250_000, 300_000, 900_000]
    const batch = sizes.map((bytes, i) =>
      aCompleted(project, {
        id: `c${i}`,
        attributes: part(bytes),
        inputs: part(bytes),
        output: part(bytes),
        summary: part(bytes),
        otel_dump: part(bytes),
        exception: 'z'.repeat(bytes),
      }),
    )
    const answer = await service.post(`/v2/${project}/calls/complete`, { batch })
    accepted(answer)
    assert.equal(answer.headers.get('tallytree-refused'), null)
    for (const [i, bytes] of sizes.entries()) {
      const call = await service.in(project).calls.read(`c${i}`)
      assert.deepEqual([call.inputs, call.output, call.summary.a.length], [part(bytes), part(bytes), bytes])
    }
    await writesNothing(service, () => service.post(`/v2/${project}/calls/complete`, { batch }))
  })
})

describe('a body over 32 MiB', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('is a 413 that names the limit, one byte below is not', async () => {
    const body = Buffer.alloc(33_554_432, ' ')
    body.write(JSON.stringify({ start: aStart(someProject()) }))
    assert.equal((await sendBytes(service, '/call/start', body, JSON_TYPE)).status, 200)
    for (const path of ['/call/start', '/call/upsert_batch', '/trace/usage']) {
      const answer = await service.post(path, ' '.repeat(33_554_433))
      assert.match(reasonOf(answer, 413), /33554432 bytes/)
    }
  })

  it('sent in pieces of unknown length is a 413 as well', async () => {
    const piece = Buffer.alloc(1_000_000, ' ')
    const body = Array.from({ length: 40 }, () => piece)
    const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }
    assert.equal((await sendBytes(service, '/call/start', Buffer.concat(body), headers)).status, 413)
  })
})

describe('a call with too many models', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const usage = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`model-${i}`, { requests: 1 }]))

  it('is a 413 alone, and in a batch refuses no neighbour', async () => {
    const project = someProject()
    const end = anEnd(project, 'many', { summary: { usage } })
    assert.match(reasonOf(await service.post('/call/end', { end }), 413), /too large/)
    const items = [startItem(aStart(project, { id: 'one' })), { mode: 'end', req: { end } }]
    const answer = await service.post('/call/upsert_batch', {
      batch: [...items, startItem(aStart(project, { id: 'two' }))],
    })
    assert.deepEqual(
      (accepted(answer)['res'] as { id?: string }[]).map(({ id }) => id),
      ['one', undefined, 'two'],
    )
    assert.equal(answer.headers.get('tallytree-refused'), '1')
    for (const id of ['one', 'two']) assert.ok(await service.in(project).calls.read(id))
  })
})

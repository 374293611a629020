import assert from 'node:assert/strict'
import type { TestService } from '../support/service.js'
import { aStart } from '../support/call-requests.js'
import { startGateway } from '../support/upstreams/gateway.js'
import { sharedService, someProject } from './shared-service.js'
import { accepted, reasonOf, textIn } from './calls/given.js'

const AT = '2026-01-01T00:00:00Z'
const KINDS = [
  {
    kind: 'whole numbers that no double holds',
    WIDE: '1700000000000000123',
    OTHER: '1700000000000000124',
    WIDER: '-340282366920938463463374607431768211457',
  },
  { kind: 'floats of a whole value', WIDE: '1700000000000.0', OTHER: '1700000000000', WIDER: '-1e+20' },
] as const

for (const { kind, WIDE, WIDER, OTHER } of KINDS)
  describe(kind, () => {
    const PAYLOAD = `{"ns":${WIDE},"list":[${WIDER},"${WIDE}"],"b":{"":9007199254740993}}`

    let service: TestService
    let project: string
    before(async () => (service = await sharedService()))
    beforeEach(() => (project = someProject()))

    const send = async (path: string, body: string, headers = {}) => {
      const named = body.replace('{', `{"project_id":"${project}",`).replace(',}', '}')
      const answer = await service.post(path, named, { headers })
      accepted(answer)
      return answer.text
    }

    /** The text of a member of an answer, as far as it is the one that is expected. */
    const says = (text: string, ...members: readonly string[]) => {
      for (const member of members) assert.ok(text.includes(member), `${member} in ${text}`)
    }

    const start = (id: string, inputs: string) =>
      `"project_id":"${project}","id":"${id}","trace_id":"${id}","op_name":"op","started_at":"${AT}","attributes":{"a":${WIDE}},"inputs":${inputs}`
    const end = (output: string) =>
      `"ended_at":"${AT}","output":${output},"summary":{"s":${WIDE},"weave":{"w":${WIDE}}}`

    const record = async (id: string, inputs: string, output: string) => {
      const call = `{${start(id, inputs)},${end(output)}}`
      accepted(await service.post(`/v2/${project}/calls/complete`, `{"batch":[${call}]}`))
    }

    it('are in the payload of calls what they were, in whichever way they came and are read', async () => {
      await record('complete', PAYLOAD, WIDE)
      accepted(await service.post('/call/start', `{"start":{${start('apart', PAYLOAD)}}}`))
      accepted(
        await service.post('/call/end', `{"end":{"project_id":"${project}","id":"apart",${end(WIDE)}}}`),
      )
      const batch = `{"mode":"start","req":{"start":{${start('batch', PAYLOAD)}}}},{"mode":"end","req":{"end":{"project_id":"${project}","id":"batch",${end(WIDE)}}}}`
      accepted(await service.post('/call/upsert_batch', `{"batch":[${batch}]}`))
      const expected = [
        `"inputs":${PAYLOAD}`,
        `"output":${WIDE}`,
        `"attributes":{"a":${WIDE}}`,
        `"summary":{"s":${WIDE},"weave":{"w":${WIDE},`,
      ]
      for (const id of ['complete', 'apart', 'batch']) {
        says(await send('/call/read', `{"id":"${id}"}`), ...expected)
        says(await send('/calls/query', `{"filter":{"call_ids":["${id}"]}}`), ...expected)
        says(
          await send(
            '/calls/stream_query',
            `{"filter":{"call_ids":["${id}"]},"columns":["inputs","output"]}`,
          ),
          expected[0]!,
        )
      }
    })

    it('tell repeats from what is different in the last digit alone', async () => {
      const body = (last: string) => `{"start":{${start('one', `{"ns":170000000000000012${last}}`)}}}`
      accepted(await service.post('/call/start', body('3')))
      accepted(await service.post('/call/start', body('3')))
      assert.equal((await service.post('/call/start', body('4'))).status, 409)
      const ending = (last: string) =>
        `{"end":{"project_id":"${project}","id":"one",${end(`170000000000000012${last}`)}}}`
      accepted(await service.post('/call/end', ending('3')))
      accepted(await service.post('/call/end', ending('3')))
      assert.equal((await service.post('/call/end', ending('4'))).status, 409)
    })

    it('are whole in payload too large for an event', async () => {
      const large = `{"ns":${WIDE},"text":"${'x'.repeat(300_000)}"}`
      await record('large', large, `[${WIDE},"${'y'.repeat(600_000)}"]`)
      for (const text of [
        await send('/call/read', '{"id":"large"}'),
        await send('/calls/query', '{"filter":{"call_ids":["large"]}}'),
      ])
        says(text, `"inputs":${large}`, `"output":[${WIDE},`)
    })

    it('are found, and sums of usage go on with doubles', async () => {
      await record('found', `{"ns":${WIDE}}`, 'null')
      const query = (value: string) =>
        `{"query":{"$expr":{"$eq":[{"$getField":"inputs.ns"},{"$literal":${value}}]}}}`
      says(await send('/calls/query', query(WIDE)), '"id":"found"')
      accepted(
        await service.post(
          '/call/end',
          `{"end":{"project_id":"${project}","id":"used","ended_at":"${AT}","summary":{"usage":{"m":{"input_tokens":9007199254740993}}}}}`,
        ),
      )
    })

    it('are in objects what they were, whose digest tells them apart', async () => {
      const create = async (val: string) =>
        (
          JSON.parse(
            (
              await service.post(
                '/obj/create',
                `{"obj":{"project_id":"${project}","object_id":"o","val":${val}}}`,
              )
            ).text,
          ) as { digest: string }
        ).digest
      const [one, other] = [await create(PAYLOAD), await create(PAYLOAD.replace(WIDE, OTHER))]
      assert.notEqual(one, other)
      assert.equal(await create(PAYLOAD), one)
      const read = (digest: string) => send('/obj/read', `{"object_id":"o","digest":"${digest}"}`)
      says(await read(one), `"val":${PAYLOAD}`)
      says(await read(other), `"val":${PAYLOAD.replace(WIDE, OTHER)}`)
      const entity = `weave:///${project}/object/o:${one}/attr/`
      const refs = ['ns', 'list', 'b'].map((name) => `"${entity}${name}"`)
      const answer = await service.post('/refs/read_batch', `{"refs":[${refs.join()}]}`)
      assert.equal(answer.text, `{"vals":[${WIDE},[${WIDER},"${WIDE}"],{"":9007199254740993}]}`)
      await record('expanded', `{"ref":"weave:///${project}/object/o:${one}"}`, 'null')
      says(
        await send('/calls/query', '{"filter":{"call_ids":["expanded"]},"expand_columns":["inputs.ref"]}'),
        `"inputs":{"ref":{"ns":${WIDE},"list":[${WIDER},"${WIDE}"]`,
      )
    })

    it('are in rows of tables what they were, and such rows are sorted', async () => {
      const vals = [
        `{"ns":${WIDE},"n":3}`,
        `{"ns":${WIDER},"n":1,"more":{"list":[${WIDE},12345678901234567890]}}`,
        `{"ns":12345678901234567890,"n":2,"large":1000000000000000000000}`,
      ]
      const rows = `[${vals.join()}]`
      const made = await service.post('/table/create', `{"table":{"project_id":"${project}","rows":${rows}}}`)
      const digest = textIn(accepted(made), 'digest')
      const read = async (sort_by: string) =>
        [
          ...(await send('/table/query', `{"digest":"${digest}"${sort_by}}`)).matchAll(
            /"val":({.*?}),"orig/g,
          ),
        ].map(([, val]) => val)
      const sortedBy = (field: string) => read(`,"sort_by":[{"field":"${field}","direction":"asc"}]`)
      assert.deepEqual(await read(''), vals)
      assert.deepEqual(await sortedBy('n'), [vals[1], vals[2], vals[0]])
      assert.deepEqual(await sortedBy('ns'), [vals[1], vals[0], vals[2]])
    })

    it('are in feedback what they were', async () => {
      const ref = `weave:///${project}/call/one`
      await send('/feedback/create', `{"weave_ref":"${ref}","feedback_type":"custom","payload":${PAYLOAD}}`)
      says(await send('/feedback/query', '{}'), `"payload":${PAYLOAD}`)
      says(
        await send('/feedback/query', '{"fields":["payload.ns","payload.b"]}'),
        `"payload.ns":${WIDE},"payload.b":{"":9007199254740993}`,
      )
    })

    it('are in the metadata of artifacts what they were', async () => {
      const path = `/api/artifacts/${project}/model/versions`
      const made = await service.post(path, `{"type":"model","metadata":${PAYLOAD}}`)
      accepted(made)
      const read = await service.send('GET', `${path}/v0`)
      says(read.text, `"metadata":${PAYLOAD}`)
      assert.equal(read.headers.get('content-type'), 'application/json; charset=utf-8')
      says((await service.send('GET', path)).text, `"metadata":${PAYLOAD}`)
    })

    it('are in the log what they were', async () => {
      await record('logged', PAYLOAD, WIDE)
      const answer = await service.send('GET', '/api/events')
      says(answer.text, `"inputs":${PAYLOAD}`, `"output":${WIDE}`)
    })

    it('reach an upstream, and come back from it', async () => {
      const gateway = await startGateway(service)
      gateway.upstream.behave((_, response) => {
        response.setHeader('content-type', 'application/json')
        response.end(
          `{"id":"c","seed":${WIDE},"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
        )
      })
      const body = `{"model":"${gateway.model}","messages":[{"role":"user","content":"a"}],"seed":${WIDE}}`
      const answer = await service.post('/v1/chat/completions', body, {
        headers: { 'openai-project': project },
      })
      says(gateway.upstream.arrivals[0]!.text, `"seed":${WIDE}`)
      accepted(answer)
      says(answer.text, `"seed":${WIDE}`)
      says(await send('/calls/query', '{}'), `"seed":${WIDE}`)
      await gateway.upstream.close()
    })
  })

describe('a body with many numbers', () => {
  const [{ WIDE }] = KINDS
  let service: TestService
  let project: string
  before(async () => (service = await sharedService()))
  beforeEach(() => (project = someProject()))

  const startOf = (list: string): string =>
    JSON.stringify({ start: aStart(project, { id: 'many', inputs: { all: '<list>' } }) }).replace(
      '"<list>"',
      list,
    )
  const readBack = async () => (await service.post('/call/read', { project_id: project, id: 'many' })).text

  it('is refused with more than a quarter of a million whole numbers beyond 2^53', async () => {
    const refused = await service.post('/call/start', startOf(`[${`${WIDE},`.repeat(250_001)}1]`))
    assert.match(reasonOf(refused, 413), /more than 250000 integers beyond 2\^53/)
    accepted(await service.post('/call/start', startOf(`[${`${WIDE},`.repeat(249_999)}1]`)))
    assert.equal((await readBack()).split(WIDE).length, 250_000)
  })

  it('keeps the kind of its first million floats of a whole value', async () => {
    accepted(await service.post('/call/start', startOf(`[${'1.0,'.repeat(1_000_001)}1.5]`)))
    const text = await readBack()
    assert.equal(text.split('1.0,').length, 1_000_001)
    assert.ok(text.includes('1.0,1,1.5]'))
  })
})

describe('queries of whole numbers beyond 2^53', () => {
  const [ID, LESS, MORE] = ['1234567890123456789', '1234567890123456788', '1234567890123456790']
  const CALLS = {
    a: ID,
    b: LESS,
    c: `"${LESS}"`,
    d: `"${ID}"`,
    e: '1.5',
    f: `-${ID}`,
    g: `-${LESS}`,
    h: '"x"',
  }
  const field = '{"$getField":"inputs.id"}'
  const literal = (text: string) => `{"$literal":${text}}`
  const integer = (input: string) => `{"$convert":{"input":${input},"to":"int"}}`

  let service: TestService
  let project: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    const batch = Object.entries(CALLS).map(
      ([id, value], second) =>
        `{"project_id":"${project}","id":"${project}-${id}","trace_id":"${id}","op_name":"op","attributes":{},` +
        `"started_at":"2026-01-01T00:00:0${second}Z","ended_at":"${AT}","inputs":{"id":${value},"same":${ID}},"summary":{}}`,
    )
    accepted(await service.post(`/v2/${project}/calls/complete`, `{"batch":[${batch.join()}]}`))
  })

  const found = async (rest: string): Promise<string> => {
    const answer = await service.post('/calls/query', `{"project_id":"${project}",${rest}}`)
    accepted(answer)
    return [...answer.text.matchAll(/"id":"[^"]*-([a-h])"/g)].map(([, id]) => id).join('')
  }
  const meeting = (expr: string) => found(`"query":{"$expr":${expr}}`)

  it('find exactly the numbers that they name', async () => {
    assert.equal(await meeting(`{"$eq":[${field},${literal(ID)}]}`), 'ad')
    assert.equal(await meeting(`{"$eq":[${literal(ID)},${integer(field)}]}`), 'ad')
    assert.equal(await meeting(`{"$eq":[${field},${literal(`"${ID}"`)}]}`), 'ad')
    assert.equal(await meeting(`{"$gt":[${field},${literal(LESS)}]}`), 'ad')
    assert.equal(await meeting(`{"$gte":[${field},${literal(ID)}]}`), 'ad')
    assert.equal(await meeting(`{"$lt":[${field},${literal(ID)}]}`), 'bcefg')
    assert.equal(await meeting(`{"$lt":[${literal(`-${ID}`)},${field}]}`), 'abcdeg')
    assert.equal(await meeting(`{"$not":[{"$lte":[${field},${literal(LESS)}]}]}`), 'ad')
  })

  it('find those of lists, and numbers of other kinds beside them', async () => {
    assert.equal(await meeting(`{"$in":[${field},[${literal(ID)}]]}`), 'ad')
    assert.equal(await meeting(`{"$in":[${integer(field)},[${literal(LESS)},${literal(MORE)}]]}`), 'bc')
    assert.equal(
      await meeting(`{"$in":[${field},[${literal(LESS)},${literal('1.5')},${literal('"x"')}]]}`),
      'bceh',
    )
  })

  it('compare two fields and conversions', async () => {
    const same = '{"$getField":"inputs.same"}'
    assert.equal(await meeting(`{"$eq":[${integer(field)},${integer(same)}]}`), 'ad')
    assert.equal(await meeting(`{"$lt":[${integer(field)},${integer(same)}]}`), 'bcfg')
    assert.equal(await meeting(`{"$gt":[${integer(field)},${literal('2')}]}`), 'abcd')
  })

  it('sort by all digits, below 0 too, and so do those of tables', async () => {
    const sorted = (direction: string) =>
      found(`"sort_by":[{"field":"inputs.id","direction":"${direction}"}]`)
    assert.match(await sorted('asc'), /^fge(bc|cb)(ad|da)h$/)
    assert.match(await sorted('desc'), /^(ad|da)(bc|cb)egfh$/)
    const rows = `[{"n":${ID}},{"n":${LESS}},{"n":-${LESS}},{"n":-${ID}}]`
    const made = await service.post('/table/create', `{"table":{"project_id":"${project}","rows":${rows}}}`)
    const read = await service.post(
      '/table/query',
      `{"project_id":"${project}","digest":"${textIn(accepted(made), 'digest')}","sort_by":[{"field":"n","direction":"asc"}]}`,
    )
    const values = [...read.text.matchAll(/"n":(-?\d+)/g)].map(([, digits]) => digits)
    assert.deepEqual(values, [`-${ID}`, `-${LESS}`, LESS, ID])
  })
})

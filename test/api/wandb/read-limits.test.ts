import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { clientOf } from './given.js'

const ROWS = 12_000
const SPEC = JSON.stringify({ keys: ['v'], samples: 10_000 })

describe('what one request of the package wandb may read', () => {
  let service: TestService
  let client: ReturnType<typeof clientOf>
  before(async () => {
    service = await sharedService()
    client = clientOf(service, someProject())
    await client.init('long')
    await client.log(
      'long',
      0,
      Array.from({ length: ROWS }, (_, at) => `{"_step":${at},"v":${at}}`),
    )
    for (let at = 0; at < 3; at += 1) await client.init(`short-${at}`)
  })

  const ask = (fields: string, specs: readonly string[] = [], more = '') => {
    const [entity, name] = client.project.split('/')
    const variables = specs.length === 0 ? '' : '($s: [JSONString!]!)'
    return client.graphQl(
      `query ${variables} { project(entityName: "${entity}", name: "${name}") { ${fields} } } ${more}`,
      specs.length === 0 ? {} : { s: [...specs] },
    )
  }
  const sampled = (...specs: readonly string[]) =>
    ask('run(name: "long") { sampledHistory(specs: $s) }', specs)

  /** A refused request has no data, and one error. */
  const refusalOf = async (asked: ReturnType<typeof ask>): Promise<string> => {
    const { data, errors } = await asked
    assert.equal(data ?? null, null)
    assert.equal(errors?.length, 1)
    return errors[0]!.message
  }

  it('refuses specs that ask for too many rows together', async () =>
    assert.equal(
      await refusalOf(sampled(...Array.from({ length: 500 }, () => SPEC))),
      'project.run.sampledHistory: A request may read at most 250000 rows of histories. ' +
        'Ask for fewer samples or specs, or in several requests.',
    ))

  it('refuses many specs, however few rows they ask for', async () => {
    const spec = JSON.stringify({ keys: ['v'], samples: 0 })
    const { errors } = await sampled(...Array.from({ length: 1001 }, () => spec))
    assert.match(errors?.[0]?.message ?? '', /at most 1000 specs of a sampled history/)
    assert.match(
      await refusalOf(
        sampled(
          ...Array.from({ length: 1000 }, () =>
            JSON.stringify({ keys: Array.from({ length: 12 }, (_, at) => `k${at}`), samples: 0 }),
          ),
        ),
      ),
      /at most 32000000 values of histories/,
    )
  })

  it('reads a key that a spec repeats once', async () => {
    const keys = Array.from({ length: 50_000 }, () => 'v')
    const { data } = await sampled(
      JSON.stringify({ keys, samples: 1 }),
      JSON.stringify({ keys: ['v'], samples: 1 }),
    )
    const [repeated, once] = data!['project'].run.sampledHistory as readonly unknown[]
    assert.deepEqual(repeated, once)
  })

  it('answers as many specs as the rows allow', async () => {
    const { data } = await sampled(...Array.from({ length: 20 }, () => SPEC))
    const samples = data!['project'].run.sampledHistory as readonly (readonly unknown[])[]
    assert.equal(samples.length, 20)
    for (const rows of samples) assert.deepEqual(rows, samples[0])
  })

  it('counts the rows of all aliases', async () => {
    const aliases = Array.from({ length: 30 }, (_, at) => `a${at}: history(samples: 10000)`).join(' ')
    assert.match(
      await refusalOf(ask(`run(name: "long") { ${aliases} }`)),
      /^project\.run\.a\d+: A request may read at most 250000 rows/,
    )
  })

  it('refuses keys that would hold too many values', async () => {
    const keys = Array.from({ length: 3000 }, (_, at) => `k${at}`)
    assert.match(
      await refusalOf(sampled(JSON.stringify({ keys, samples: 1 }))),
      /at most 32000000 values of histories\. Ask for fewer keys or steps/,
    )
  })

  const nested = (levels: number): string =>
    `runs(first: 50) { edges { node { ${levels === 0 ? 'id' : `project { ${nested(levels - 1)} }`} } } }`

  it('refuses lists that are nested too deep', async () =>
    assert.equal(
      await refusalOf(ask(nested(4))),
      'project.runs.edges.node.project.runs.edges.node.project.runs: lists and histories within lists would be read up to ' +
        '2550 times, and a request may read at most 1000. Ask for smaller pages (first), fewer levels, or in several requests.',
    ))

  it('refuses histories within nested lists', async () =>
    assert.match(
      await refusalOf(
        ask(
          'runs(first: 50) { edges { node { ...H project { runs(first: 50) { edges { node { ...H } } } } } } }',
          [],
          'fragment H on Run { history(samples: 10000) }',
        ),
      ),
      /^project\..*\.history: .* at most 1000/,
    ))

  it('refuses fragments that multiply', async () => {
    const fragments = Array.from({ length: 14 }, (_, at) => {
      const run = `run(name: "r") { project { ${at === 13 ? 'id' : `...F${at + 1}`} } }`
      return `fragment F${at} on Project { a: ${run} b: ${run} }`
    })
    assert.match(await refusalOf(ask('...F0', [], fragments.join(' '))), /may select at most 10000 fields/)
  })

  it('answers lists within lists, and histories of a page of runs', async () => {
    const { data, errors } = await ask(
      'runs(first: 30) { edges { node { history(samples: 2) project { runs(first: 30) { edges { node { name } } } } } } }',
    )
    assert.equal(errors, undefined)
    const { edges } = data!['project'].runs as {
      edges: readonly { node: { project: { runs: { edges: readonly unknown[] } } } }[]
    }
    assert.deepEqual(
      edges.map(({ node }) => node.project.runs.edges.length),
      [4, 4, 4, 4],
    )
  })
})

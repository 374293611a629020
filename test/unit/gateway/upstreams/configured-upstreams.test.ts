import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configuredUpstreams } from '../../../../src/gateway/upstreams/configured-upstreams.js'
import { readConfig } from '../../../../src/config.js'

const ONE = {
  name: 'vllm',
  base_url: 'http://10.0.0.7:8000/v1',
  models: [{ id: 'acme/chat', upstream_id: 'chat' }],
}

describe("the operator's file of upstreams", () => {
  let directory: string
  let file: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-upstreams-'))
    file = join(directory, 'upstreams.json')
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const read = async (content: unknown, environment: Record<string, string> = {}) => {
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
    return configuredUpstreams(readConfig({ TALLYTREE_UPSTREAMS_FILE: file, ...environment }))
  }

  it('is trusted, and its credentials come from the environment', async () => {
    const { upstreams, credentials } = await read(
      {
        upstreams: [
          { ...ONE, api_key_env: 'VLLM_KEY' },
          { ...ONE, name: 'spare', weight: 0 },
        ],
      },
      { VLLM_KEY: 'geheim' },
    )
    const [first, second] = [...upstreams.values()]
    assert.deepEqual([first?.id, first?.team, first?.isConfigured], ['file:vllm', null, true])
    assert.deepEqual([second?.content.weight, second?.content.timeouts.connect_ms], [0, 5000])
    assert.deepEqual([...credentials], [['file:vllm', 'geheim']])
    assert.ok(!JSON.stringify([...upstreams]).includes('geheim'))
  })

  it('may be left out', () => {
    assert.equal(configuredUpstreams(readConfig({})).upstreams.size, 0)
  })

  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ['is no JSON', '{"upstreams": [', /is not JSON$/],
    ['is no object', '[]', /whole file: /],
    ['has a name too many', { upstreams: [{ ...ONE, weigth: 1 }] }, /upstreams\.0\.weigth: /],
    ['lacks one', { upstreams: [{ name: 'x' }] }, /upstreams\.0\.base_url: Field required/],
    [
      'has no address',
      { upstreams: [ONE, { ...ONE, base_url: 'x' }] },
      /upstreams\.1\.base_url: Input should be a URL/,
    ],
    ['names two alike', { upstreams: [ONE, ONE] }, /upstreams\.1: An upstream named vllm already exists/],
    [
      'gives one name to two models',
      {
        upstreams: [
          ONE,
          { ...ONE, name: 'b', models: [{ id: 'b', upstream_id: 'b', aliases: ['acme/chat'] }] },
        ],
      },
      /upstreams\.1: .*a model named acme\/chat/,
    ],
    ['names a secret', { upstreams: [{ ...ONE, secret: 'X' }] }, /upstreams\.0\.secret: /],
    [
      'holds a key itself',
      { upstreams: [{ ...ONE, api_key_env: 'sk-geheim' }] },
      /api_key_env: String should be the name/,
    ],
    [
      'names a variable that is not there',
      { upstreams: [{ ...ONE, api_key_env: 'NONE' }] },
      /environment variable NONE is not set; set it/,
    ],
  ]
  for (const [what, content, message] of wrong)
    it(`that ${what} is refused with its place`, async () => {
      await assert.rejects(
        async () => read(content),
        (error: Error) => {
          assert.equal(error.name, 'OperatorError')
          assert.ok(error.message.startsWith(`TALLYTREE_UPSTREAMS_FILE: ${file}: `), error.message)
          assert.match(error.message, message)
          assert.ok(!error.message.includes('geheim'))
          return true
        },
      )
    })

  it('that names a variable which no header can carry is refused, without its value', async () => {
    await assert.rejects(
      read({ upstreams: [{ ...ONE, api_key_env: 'VLLM_KEY' }] }, { VLLM_KEY: 'geheim\n' }),
      (error: Error) =>
        /VLLM_KEY is not valid in a header/.test(error.message) && !/geheim/.test(error.message),
    )
  })

  it('that is not there is refused', () => {
    assert.throws(
      () => configuredUpstreams(readConfig({ TALLYTREE_UPSTREAMS_FILE: join(directory, 'none') })),
      /TALLYTREE_UPSTREAMS_FILE: .*none: cannot be read: ENOENT/,
    )
  })
})

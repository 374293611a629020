import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Json } from '../../../src/kernel/json/json.js'
import { assertNoneRefused, opOf, startSdkService, type SdkService } from '../../e2e/sdk-service.js'

const PROJECT = 'team/large'

interface Told {
  readonly dataset: string
  readonly rows: number
  readonly inOrder: boolean
  readonly textIsSame: boolean
  readonly soundHash: string
}

describe('large things sent with the SDK of npm', () => {
  let sdk: SdkService
  let told: Told
  before(async () => {
    sdk = await startSdkService()
    told = await sdk.told('large', PROJECT)
  })
  after(() => sdk.stop())

  const rows = async (more: object) => {
    const [dataset] = (
      await sdk.answered<{ vals: readonly [{ rows: string }] }>('/refs/read_batch', { refs: [told.dataset] })
    ).vals
    const digest = dataset.rows.split('/').at(-1)
    return { digest, ...(await sdk.answered<Page>('/table/query', { project_id: PROJECT, digest, ...more })) }
  }

  it('have a dataset of 50,000 rows in one request, read back whole and in order', async () => {
    assert.deepEqual([told.rows, told.inOrder], [50_000, true])
    const created = sdk.proxy.exchanges.filter(({ path }) => path === '/table/create')
    assert.equal(created.length, 1)
    const page = await rows({ offset: 49_998, limit: 10 })
    assert.deepEqual(
      page.rows.map(({ val }) => val),
      [49_998, 49_999].map((n) => ({ n, text: `row ${n % 40_000}`, nested: { odd: n % 2 === 1 } })),
    )
    const stats = { project_id: PROJECT, digest: page.digest }
    assert.deepEqual(await sdk.answered('/table/query_stats', stats), { count: 50_000 })
  })

  it('have an output of 20 MB of text, read back byte for byte', async () => {
    assert.ok(told.textIsSame)
    const call = (await sdk.callsOf(PROJECT)).find((one) => opOf(one) === 'say')!
    assert.equal(Buffer.byteLength(call.output as string), 20_500_000)
    assert.equal(call.output, '\u4e16\u754c \u00fc '.repeat(2_050_000))
  })

  it('have an output of 20 MB of sound, read back byte for byte', async () => {
    const call = (await sdk.callsOf(PROJECT)).find((one) => opOf(one) === 'play')!
    const digest = (call.output as { files: Record<string, string> }).files['audio.wav']
    const response = await fetch(`${sdk.service.address}/file/content`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sdk.service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project_id: PROJECT, digest }),
    })
    const content = Buffer.from(await response.arrayBuffer())
    assert.deepEqual([response.status, content.length], [200, 20_000_000])
    assert.equal(createHash('sha256').update(content).digest('hex'), told.soundHash)
  })

  it('had no request refused for good', () => assertNoneRefused(sdk.proxy))
})

interface Page {
  readonly rows: readonly { readonly val: Json }[]
}

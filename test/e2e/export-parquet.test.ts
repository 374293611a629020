import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTestClickHouse } from '../support/engine.js'
import { isOnServer } from '../support/clickhouse-server.js'
import { tallytree } from '../support/command.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { scratchDirectory } from '../support/scratch.js'

describe('tallytree export parquet', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  // A server does not read files of this machine.
  before(function () {
    if (isOnServer) this.skip()
  })

  const exported = async (project: string, sql: string): Promise<readonly object[]> => {
    const file = join(await scratchDirectory(), "it's calls.parquet")
    const done = await tallytree(
      ['export', 'parquet', '--from', service.address, '--to', file, '--project', project],
      { TALLYTREE_API_KEY: service.key },
    )
    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stdout, /^wrote \d+ calls to .*, up to position \d+\n$/)
    const clickHouse = await openTestClickHouse()
    try {
      return await clickHouse.reader.query(`${sql} FROM file({path:String}, 'Parquet') ORDER BY id`, {
        path: file,
      })
    } finally {
      await clickHouse.close()
    }
  }

  it('writes finished calls with their own usage', async () => {
    const { calls } = service.in('default/p')
    const attributes = { weave: { source: 'python-sdk' } }
    const usage = { m: { requests: 1, prompt_tokens: 100, completion_tokens: 20 } }
    for (const [id, parent_id] of [
      ['root', null],
      ['model', 'root'],
    ] as const)
      await calls.start({ id, parent_id, trace_id: 'trace', attributes, inputs: { n: 1 } })
    for (const id of ['model', 'root']) await calls.end(id, { summary: { usage }, output: "it's" })
    await calls.start({ id: 'running' })

    const rows = await exported(
      'default/p',
      `SELECT id, parent_id, toString(started_at) AS started, inputs, output,
         arrayMap(one -> (one.model, one.prompt_tokens, one.completion_tokens), usage) AS used`,
    )

    const common = { started: '2026-01-01 00:00:00.000000', inputs: '{"n":1}', output: '"it\'s"' }
    assert.deepEqual(rows, [
      { id: 'model', parent_id: 'root', ...common, used: [['m', 100, 20]] },
      { id: 'root', parent_id: null, ...common, used: [] },
    ])
  })

  it('counts the usage of spans once', async () => {
    const sample = new URL('../samples/otlp/js-ai-sdk-6.json', import.meta.url)
    const sent = await service.send('POST', '/v2/default/spans/otel/v1/traces', readFileSync(sample, 'utf8'))
    assert.equal(sent.status, 200)
    const rows = await exported('default/spans', 'SELECT id, arraySum(usage.prompt_tokens) AS prompt')
    const prompts = rows.map((row) => (row as { readonly prompt: number }).prompt)
    assert.equal(
      prompts.reduce((sum, prompt) => sum + prompt, 0),
      365,
    )
  })
})

import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { itWith } from '../support/skipping.js'
import { answering, CURL_ONCE_READABLE, freePort, pageOf } from './pages.js'
import { run } from './run-program.js'

const blocks = pageOf('gateway.md')
const [, hosted, asking, starting, local] = blocks('sh')
const [client, upstream] = blocks('js')

describe('the page on inference', () => {
  let service: RunningService
  let directory: string
  let serving: ChildProcess
  let environment: Record<string, string>

  before(async () => {
    const [, name, value] = /^(\w+)=(\S+) npm start\n$/.exec(starting!) ?? []
    service = await startRunningService({ [name!]: value! })
    directory = await mkdtemp(join(tmpdir(), 'tallytree-first-completion-'))
    await writeFile(join(directory, 'upstream.mjs'), upstream!)
    const port = await freePort()
    serving = spawn(process.execPath, ['upstream.mjs'], {
      cwd: directory,
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    })
    const upstreamUrl = `http://127.0.0.1:${port}`
    await answering(upstreamUrl)
    environment = {
      TALLYTREE_URL: service.address,
      TALLYTREE_API_KEY: service.key,
      UPSTREAM_URL: upstreamUrl,
      OPENAI_BASE_URL: `${upstreamUrl}/v1`,
      OPENAI_API_KEY: 'sk-of-the-provider',
    }
  })
  after(async () => {
    serving.kill()
    await service.remove()
    await rm(directory, { recursive: true, force: true })
  })

  itWith('curl')('has a model answer, whole and streamed, and counts what that used and cost', async () => {
    const pasted = ['-euo', 'pipefail', '-c', [CURL_ONCE_READABLE, hosted, local, asking].join('\n')]
    const { code, stdout, stderr } = await run('bash', pasted, directory, environment)

    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.match(stdout, /"model":"acme\/small".*"content":"Hello, world"/)
    assert.match(stdout, /"object":"list","data":\[\{"id":"acme\/parrot"/)
    assert.match(stdout, /"content":"Hello, world"/)
    assert.match(stdout, /^data: \[DONE\]$/m)
    const { call_usage } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { call_usage: object }
    const used = Object.values(call_usage) as Record<string, Record<string, number>>[]
    assert.deepEqual(
      used.flatMap((usage) =>
        Object.entries(usage).map(([model, { total_tokens }]) => [model, total_tokens]),
      ),
      [
        ['acme/small', 15],
        ['acme/parrot', 15],
        ['acme/parrot', 15],
      ],
    )
    assert.match(stdout, /0\.000024\b.*0\.00003\b/)
  })

  it('answers the client of the page', async () => {
    await symlink(
      fileURLToPath(new URL('../../node_modules', import.meta.url)),
      join(directory, 'node_modules'),
    )
    await writeFile(join(directory, 'client.mjs'), client!)
    const { code, stdout, stderr } = await run(process.execPath, ['client.mjs'], directory, environment)
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'Hello, world\n', stderr: '' })
  })
})

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRecordingProxy, type RecordingProxy } from '../../support/recording-proxy.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { selfSigned } from '../../support/self-signed.js'
import { RESEARCH } from '../../e2e/research.js'
import { runProgram } from '../../e2e/run-program.js'
import { assertNoneRefused } from '../../e2e/sdk-service.js'

/** The SDK asks for the default team over https alone, so the service stands behind a proxy here, as it would outside. */
describe('a program of the SDK of npm that names its project without a team', () => {
  let service: RunningService
  let proxy: RecordingProxy
  let directory: string
  before(async () => {
    service = await startRunningService()
    const certified = selfSigned()
    proxy = await startRecordingProxy(service.address, certified)
    directory = await mkdtemp(join(tmpdir(), 'tallytree-certificate-'))
    await writeFile(join(directory, 'authority.pem'), certified.cert)
  })
  after(async () => {
    await proxy.stop()
    await service.remove()
    await rm(directory, { recursive: true })
  })

  const environment = () => ({
    WANDB_BASE_URL: proxy.address,
    NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem'),
    HOME: directory,
    WEAVE_PRINT_CALL_LINK: 'false',
  })

  it('traces into the default team of its key', async () => {
    const withKey = { ...environment(), WANDB_API_KEY: service.key }
    const { code, stdout, stderr } = await runProgram('research', ['alone'], withKey)
    assert.deepEqual([code, stderr], [0, ''])
    const project = /^Initializing project: (.+)$/m.exec(stdout)![1]!
    assert.match(project, /^[^/]+\/alone$/)
    const { text } = await service.in(project).calls.stream({ columns: ['id'] })
    assert.equal(text.trimEnd().split('\n').length, RESEARCH.size)
    assertNoneRefused(proxy)
    assert.deepEqual([...new Set(proxy.exchanges.map(({ path }) => path))].sort(), [
      '/graphql',
      '/traces/call/upsert_batch',
      '/traces/file/create',
      '/traces/obj/create',
    ])
  })

  it('logs in first, and finds its key where it was saved', async () => {
    await writeFile(join(directory, '.netrc'), '')
    const { code, stdout, stderr } = await runProgram('loggingIn', ['alone-too', service.key], environment())
    assert.deepEqual([code, stderr], [0, ''])
    const { project, calls } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Record<string, unknown>
    assert.match(project as string, /^[^/]+\/alone-too$/)
    assert.equal(calls, 1)
    assert.ok(proxy.exchanges.some(({ path, status }) => path === '/traces/health' && status === 200))
  })
})

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from '../../e2e/run-program.js'
import { FOLDER, pythonIn } from '../../python/python-sdk.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { skip } from '../../support/skipping.js'
import { acceptanceEnvironment, assertPassed, GATEWAY_CLIENTS } from '../../support/upstreams/acceptance.js'

/** Installs the packages of a folder. Returns why that failed. */
const install = async (folder: string): Promise<string | undefined> => {
  const args = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--fetch-retries=1']
  const { code, stderr } = await run('npm', args, folder, {}).catch((error: unknown) => ({
    code: 1,
    stderr: String(error),
  }))
  return code === 0 ? undefined : `npm install: ${/error (.*)/i.exec(stderr)?.[1] ?? stderr.slice(0, 200)}`
}

describe('unmodified clients of the gateway', () => {
  let service: RunningService
  let environment: Readonly<Record<string, string>>
  before(async () => {
    service = await startRunningService({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
    environment = await acceptanceEnvironment(service.address, service.key)
  })
  after(() => service.remove())

  it('get answers and errors in each API: npm packages of the newest major versions', async function () {
    const failure = await install(GATEWAY_CLIENTS)
    if (failure !== undefined) skip(this, failure)
    const program = join(GATEWAY_CLIENTS, 'gateway_acceptance.mjs')
    assertPassed(
      await run(process.execPath, [program], GATEWAY_CLIENTS, { ...environment, MODULES: GATEWAY_CLIENTS }),
    )
  })

  for (const client of ['codex', 'claude'])
    it(`end a turn with a call of a tool: ${client}`, async function () {
      const folder = join(GATEWAY_CLIENTS, 'cli')
      const python = pythonIn('.venv')
      if (!existsSync(python)) skip(this, 'run test/python/install')
      const failure = await install(folder)
      if (failure !== undefined) skip(this, failure)
      const program = join(FOLDER, 'gateway_acceptance.py')
      const PATH = [join(folder, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
      assertPassed(
        await run(python, [program], folder, { ...environment, PATH, CLI: '1', ONLY: `^cli: ${client}` }),
      )
    })
})

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { startUpstreamOfAllApis } from '../support/upstreams/all-apis.js'
import { pageOf } from './pages.js'
import { run, type Ran } from './run-program.js'

const blocks = pageOf('agents.md')

/** A program of the page, with the packages that it imports. */
export interface ProgramOfPage {
  readonly packages: readonly string[]
  readonly text: string
}

const programs = (language: string, imported: RegExp): readonly ProgramOfPage[] =>
  blocks(language).map((text) => ({ packages: [...text.matchAll(imported)].map(([, name]) => name!), text }))

export const JS_PROGRAMS = programs('js', / from '([^']+)'/g)
export const PYTHON_PROGRAMS = programs('python', /^from (\S+) import/gm)

/** A service with the upstreams of the page, which imitate the providers. */
export interface AgentsService {
  readonly service: RunningService
  /** What the commands that made the upstreams printed. */
  readonly printed: string
  readonly run: (command: string, file: string, text: string) => Promise<Ran>
  readonly directory: string
  readonly stop: () => Promise<void>
}

export const startAgentsService = async (): Promise<AgentsService> => {
  const service = await startRunningService({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
  const upstream = await startUpstreamOfAllApis()
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-agents-'))
  const environment = { TALLYTREE_URL: service.address, TALLYTREE_API_KEY: service.key, HOME: directory }
  const [commands] = blocks('sh')
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', commands!], directory, {
    ...environment,
    OPENAI_API_KEY: 'sk-openai',
    OPENAI_BASE_URL: upstream.baseUrl,
    ANTHROPIC_API_KEY: 'sk-anthropic',
    ANTHROPIC_UPSTREAM_URL: upstream.baseUrl,
  })
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return {
    service,
    printed: stdout,
    directory,
    run: async (command, file, text) => {
      await writeFile(join(directory, file), text)
      return run(command, [file], directory, environment)
    },
    stop: async () => {
      await service.remove()
      await upstream.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../e2e/run-program.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { whenReadable } from '../support/asking-again.js'
import { startSdkService, type SdkService } from '../e2e/sdk-service.js'

type RunsPrograms<Answer> = (
  program: string,
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
) => Promise<Answer>

/** The running program, and Python programs that use it through the packages of `requirements.txt`. */
export interface PythonSdk extends SdkService {
  /** Runs a program of this folder that must succeed. Returns its last line of output. */
  readonly ran: RunsPrograms<string>
  /** As `ran`, with the line parsed as JSON. */
  readonly printed: <T>(...of: Parameters<RunsPrograms<T>>) => Promise<T>
  /** What a GET that must be answered with 200 is answered with. */
  readonly got: (path: string) => Promise<JsonObject>
}

export const FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** Of the package wandb, the newest first; each has an environment `.venv-wandb-<version>`. */
export const wandbVersions = readFileSync(join(FOLDER, 'wandb-versions.txt'), 'utf8').trim().split('\n')

export const pythonIn = (environment: string): string => join(FOLDER, environment, 'bin/python')

export const startPythonSdk = async (
  environment: Readonly<Record<string, string>> = {},
  virtualEnvironment = '.venv',
): Promise<PythonSdk> => {
  const python = pythonIn(virtualEnvironment)
  assert.ok(existsSync(python), `${python} does not exist: run test/python/install`)
  const sdk = await startSdkService(environment)
  const { address } = sdk.proxy

  const ran: PythonSdk['ran'] = async (program, args, more = {}) => {
    const scratch = await mkdtemp(join(tmpdir(), 'tallytree-python-'))
    try {
      const { code, stdout, stderr } = await run(python, [join(FOLDER, program), ...args], scratch, {
        WF_TRACE_SERVER_URL: address,
        WANDB_BASE_URL: address,
        WANDB_API_KEY: sdk.service.key,
        OPENAI_BASE_URL: `${address}/v1`,
        OPENAI_API_KEY: sdk.service.key,
        // The package caches responses in TMPDIR, whatever server they came from.
        TMPDIR: scratch,
        HOME: scratch,
        WANDB_ERROR_REPORTING: 'false',
        ...more,
      })
      assert.equal(code, 0, `${program}: ${stdout.slice(-2000)}\n${stderr.slice(-4000)}`)
      return stdout.trimEnd().split('\n').at(-1)!
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }
  const got = async (path: string): Promise<JsonObject> => {
    const answer = await whenReadable(
      () => sdk.service.send('GET', path),
      ({ text }) => text,
    )
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 500)}`)
    return answer.json()
  }
  const printed: PythonSdk['printed'] = async <T>(...of: Parameters<RunsPrograms<T>>) =>
    JSON.parse(await ran(...of)) as T
  return { ...sdk, ran, printed, got }
}

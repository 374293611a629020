import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endWithThisProcess } from '../support/end-with-this-process.js'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const PROGRAMS = {
  completing: new URL('./programs/completing.mjs', import.meta.url),
  evaluating: new URL('./programs/evaluating.mjs', import.meta.url),
  givingFeedback: new URL('./programs/giving-feedback.mjs', import.meta.url),
  large: new URL('./programs/large.mjs', import.meta.url),
  loggingAnEvaluation: new URL('./programs/logging-an-evaluation.mjs', import.meta.url),
  outliving: new URL('./programs/outliving.mjs', import.meta.url),
  loggingIn: new URL('./programs/logging-in.mjs', import.meta.url),
  outlivingRestarts: new URL('./programs/outliving-restarts.mjs', import.meta.url),
  publishing: new URL('./programs/publishing.mjs', import.meta.url),
  reading: new URL('./programs/reading.mjs', import.meta.url),
  research: new URL('./programs/research.mjs', import.meta.url),
  researchOverRest: new URL('./programs/research-over-rest.mjs', import.meta.url),
  wrongKey: new URL('./programs/wrong-key.mjs', import.meta.url),
}

export type Program = keyof typeof PROGRAMS

/** Runs a program in a process and a scratch directory of its own, and waits for its end. */
export const runProgram = async (
  program: Program,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> => {
  const cwd = await mkdtemp(join(tmpdir(), 'tallytree-program-'))
  try {
    return await run(process.execPath, [fileURLToPath(PROGRAMS[program]), ...args], cwd, environment)
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

/** Runs a command and collects what it writes. */
export const run = async (
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<Ran> => {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

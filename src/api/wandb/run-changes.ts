import type { RunPlace } from '../../application/runs/history.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import { isFilePath, PATH_RULE } from '../../domain/files/path.js'
import { endState, runName, type ForkPoint } from '../../domain/runs/events.js'
import { rowInSteps, stepIn } from '../../domain/runs/history.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { id as idCodec } from '../../kernel/ids.js'
import { MAX_DEPTH } from '../../kernel/json/measure.js'
import { MAX_PAGE, projectToWrite, type Caller } from './caller.js'
import { idOf, partsOfId } from './ids.js'
import { clientConfig, memberOf, runId, runNamed } from './runs.js'

export interface UpsertBucketInput {
  readonly id?: string | null
  readonly name?: string | null
  readonly modelName?: string | null
  readonly entityName?: string | null
  readonly displayName?: string | null
  readonly groupName?: string | null
  readonly jobType?: string | null
  readonly notes?: string | null
  readonly tags?: readonly string[] | null
  readonly host?: string | null
  readonly commit?: string | null
  readonly jobProgram?: string | null
  readonly jobRepo?: string | null
  readonly config?: string | null
  readonly summaryMetrics?: string | null
  readonly state?: string | null
  readonly sweep?: string | null
}

const DEFAULT_PROJECT = 'uncategorized'

/** Clients put it into addresses as it is. */
const RUN_ID = /^(?!\.\.?$)[^/\\#?%:\p{Cc}]+$/u

export const upsertBucket = async (caller: Caller, input: UpsertBucketInput) => {
  const { services, principal, cause } = caller
  if (input.sweep != null && input.sweep !== '') throw new Failure('bad-request', 'Sweeps are not supported.')
  const [entityName, modelName, named] = input.id == null ? [] : runInId(input.id)
  const place = {
    name: modelName ?? (input.modelName || DEFAULT_PROJECT),
    entityName: entityName ?? input.entityName ?? null,
  }
  const run_id = named ?? (input.name || services.ids.next().replaceAll('-', '').slice(0, 8))
  if (input.id == null && !RUN_ID.test(run_id))
    throw new Failure(
      'bad-request',
      'input.name is not valid: the id of a run has no control characters and none of / \\ # ? % :, and is not . or ...',
    )
  if (!idCodec.is(run_id)) throw new Failure('bad-request', 'input.name should have 1 to 256 bytes.')
  if (input.displayName != null && !runName.is(input.displayName))
    throw new Failure('bad-request', 'input.displayName should have at most 256 bytes.')
  for (const member of ['config', 'summaryMetrics'] as const)
    if (input[member] != null && (await rowInSteps(input[member])) === undefined)
      throw new Failure(
        'bad-request',
        `input.${member} should be JSON text of an object of at most ${MAX_DEPTH} levels.`,
      )
  const project_id = await projectToWrite(caller, place)
  const now = instantOf(services.clock.now())
  const written = await caller.runs.write(
    {
      type: 'DescribeRun',
      project_id,
      run_id,
      user: principal.userId,
      name: input.displayName || null,
      details: {
        group: input.groupName ?? null,
        job_type: input.jobType ?? null,
        notes: input.notes ?? null,
        tags: input.tags ?? null,
        host: input.host ?? null,
        commit: input.commit ?? null,
        program: input.jobProgram ?? null,
        repository: input.jobRepo ?? null,
      },
      config: input.config ?? null,
      summary: input.summaryMetrics ?? null,
      fork: await forkIn(caller, project_id, run_id, input.config),
      begins: isBeginning(input),
      now,
    },
    cause,
  )
  throwIfRefused(written.refusals.get(0))
  caller.wrote(project_id, written.readableAt)
  const inserted = written.events.some(({ type }) => type === 'RunStarted')
  if (endState.is(input.state) && written.state.ended === null) {
    const ended = await caller.runs.write(
      { type: 'EndRun', project_id, run_id, state: input.state, now },
      cause,
    )
    caller.wrote(project_id, ended.readableAt)
  }
  const bucket = await runNamed(caller, project_id, run_id)
  return { bucket, inserted, serverSettings: { serverMessages: [] } }
}

/** Where a program forks another run of the project, as its client says in the configuration. */
const forkIn = async (
  { runs }: Caller,
  project: string,
  run: string,
  config: string | null | undefined,
): Promise<ForkPoint | null> => {
  const point = memberOf(await clientConfig(config ?? '{}', ['branch_point']), 'branch_point')
  const run_id = memberOf(point, 'run_id')
  const step = stepIn(memberOf(point, 'step'))
  if (!idCodec.is(run_id) || run_id === run || step === null) return null
  const isDeleted = await runs.readOrigin(project, run_id, ({ state }) => state.deleted)
  return isDeleted === true ? null : { run_id, step }
}

/** Only the first request of a program says where it runs. */
const isBeginning = ({ id, host, jobProgram }: UpsertBucketInput): boolean =>
  id == null && (host != null || jobProgram != null)

const runInId = (id: string): readonly string[] => {
  const parts = partsOfId('Run', id)
  if (parts?.length !== 3) throw new Failure('not-found', 'Run not found in the project.')
  return parts
}

const placeToWrite = async (caller: Caller, id: string): Promise<RunPlace> => {
  const [entityName = '', name = '', run = ''] = runInId(id)
  return { project: await projectToWrite(caller, { entityName, name }), run }
}

export const stopRun = async (caller: Caller, { id }: { readonly id: string }) => {
  const place = await placeToWrite(caller, id)
  await change(caller, place, 'RequestStop')
  return { success: true }
}

export const deleteRun = async (caller: Caller, id: string): Promise<RunPlace> => {
  const place = await placeToWrite(caller, id)
  await change(caller, place, 'DeleteRun')
  return place
}

const change = async (caller: Caller, { project, run }: RunPlace, type: 'RequestStop' | 'DeleteRun') => {
  const now = instantOf(caller.services.clock.now())
  const written = await caller.runs.write({ type, project_id: project, run_id: run, now }, caller.cause)
  throwIfRefused(written.refusals.get(0))
  caller.wrote(project, written.readableAt)
}

export interface CreateRunFilesInput {
  readonly entityName: string
  readonly projectName: string
  readonly runName: string
  readonly files: readonly string[]
}

const MAX_PATH = 1024

export const createRunFiles = async (caller: Caller, input: CreateRunFilesInput) => {
  const project = await projectToWrite(caller, { name: input.projectName, entityName: input.entityName })
  const run = input.runName
  const known = idCodec.is(run) ? await caller.runs.read(project, run, () => true) : undefined
  if (known === undefined) throw new Failure('not-found', 'Run not found in the project.')
  if (input.files.length > MAX_PAGE)
    throw new Failure('bad-request', `input.files should have at most ${MAX_PAGE} items.`)
  caller.budget.spend('items', input.files.length)
  return {
    runID: runId({ project, run }),
    uploadHeaders: [],
    files: input.files.map((path) => {
      if (path === '' || path.length > MAX_PATH)
        throw new Failure('bad-request', `A path should have 1 to ${MAX_PATH} characters.`)
      if (!isFilePath(path))
        throw new Failure('bad-request', `${JSON.stringify(path)} is not valid: ${PATH_RULE}.`)
      return {
        id: idOf('File', project, run, path),
        name: path,
        directUrl: '',
        uploadUrl: caller.links.storeInRun(project, run, path),
        uploadHeaders: [],
      }
    }),
  }
}

import type { RunPlace, StepRange } from '../../application/runs/history.js'
import type { KeptRun } from '../../application/runs/runs.js'
import { storedText } from '../../application/runs/run-texts.js'
import { Failure } from '../../application/failure.js'
import type { RunFileStored } from '../../domain/runs/events.js'
import { endState, runName } from '../../domain/runs/events.js'
import { id as idCodec, entityOf as entityNameOf, projectNameOf } from '../../kernel/ids.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { connectionOf, MAX_PAGE, projectToWrite, type Caller, type PageOf } from './caller.js'
import { artifactsMadeBy, artifactsUsedBy } from './lineage.js'
import { idOf, partsOfId } from './ids.js'
import { userOf } from './viewer.js'

const MAX_SAMPLES = 10_000

/** The run with this id; null if the project has none. */
export const runNamed = async (caller: Caller, project: string, run: string) => {
  if (!idCodec.is(run)) return null
  const kept = await caller.runs.read(project, run, (kept) => ({
    ...kept,
    files: [...kept.state.files.values()],
  }))
  return kept === undefined ? null : runOf(caller, { project, run }, kept)
}

type ReadRun = KeptRun & { readonly files: readonly RunFileStored[] }

const runOf = (caller: Caller, place: RunPlace, { state, updatedAt, files }: ReadRun) => {
  const { details, ended, lines } = state
  const started = state.started!
  const { history } = caller
  const config = async () => (await storedText(caller.services.blobs, state.config)) ?? '{}'
  return {
    __typename: 'Run',
    id: runId(place),
    name: place.run,
    displayName: started.name,
    description: details.notes,
    notes: details.notes,
    sweepName: null,
    state: ended ?? 'running',
    config,
    group: details.group,
    jobType: details.job_type,
    commit: details.commit,
    readOnly: false,
    tags: details.tags,
    createdAt: started.started_at,
    heartbeatAt: updatedAt,
    summaryMetrics: async () => (await storedText(caller.services.blobs, state.summary)) ?? '{}',
    systemMetrics: '{}',
    historyLineCount: lines,
    logLineCount: 0,
    eventsLineCount: 0,
    historyTail: async () => {
      const line = await history.lastLine(place)
      return JSON.stringify(line === undefined ? [] : [line])
    },
    eventsTail: '[]',
    wandbConfig: async ({ keys }: { readonly keys?: readonly string[] | null }) =>
      JSON.stringify(clientConfig(await config(), keys ?? [])),
    user: () => userOf(started.user),
    projectId: 0,
    project: () => caller.nodes.project(caller, place.project),
    stopped: false,
    historyKeys: () => historyKeys(caller, place),
    history: ({ minStep = null, maxStep = null, samples }: Sampled) => {
      const most = samplesOf(samples)
      return minStep === null && maxStep === null
        ? history.sample(place, ALL, most)
        : history.page(place, { minStep, maxStep }, most)
    },
    events: [],
    sampledHistory: ({ specs }: { readonly specs: readonly string[] }) =>
      Promise.all(specs.map((spec) => sampledHistory(caller, place, spec))),
    parquetHistory: { parquetUrls: [], liveData: [] },
    fileCount: files.length,
    files: (asked: FilesAsked) => fileConnection(caller, place, files, asked),
    outputArtifacts: (page: PageOf) => artifactsMadeBy(caller, place, page),
    inputArtifacts: (page: PageOf) => artifactsUsedBy(caller, place, page),
    logLines: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } },
  }
}

const ALL: StepRange = { minStep: null, maxStep: null }

interface Sampled {
  readonly minStep?: number | null
  readonly maxStep?: number | null
  readonly samples?: number | null
}

const samplesOf = (samples: number | null | undefined): number =>
  Math.min(MAX_SAMPLES, Math.max(0, samples ?? 500))

const runId = ({ project, run }: RunPlace): string =>
  idOf('Run', entityNameOf(project), projectNameOf(project), run)

/** Of the client's own settings in a configuration, those under these keys. */
const clientConfig = (config: string, keys: readonly string[]): JsonObject => {
  const own = memberOf(memberOf(parsed(config), '_wandb'), 'value')
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = memberOf(own, key)
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

const parsed = (text: string): Json | undefined => {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

const memberOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

const historyKeys = async ({ history, runs }: Caller, place: RunPlace) => {
  const keys = await history.keys(place)
  if (keys.size === 0) return null
  const lastStep = await runs.read(place.project, place.run, ({ chunks }) =>
    chunks.reduce((last, { maxStep }) => Math.max(last, maxStep ?? last), -1),
  )
  return {
    keys: Object.fromEntries(
      [...keys].map(([key, { types, lastValue }]) => [
        key,
        {
          typeCounts: Object.entries(types).map(([type, count]) => ({ type, count })),
          monotonic: false,
          previousValue: lastValue,
        },
      ]),
    ),
    sets: [],
    lastStep,
  }
}

const sampledHistory = ({ history }: Caller, place: RunPlace, text: string) => {
  const spec = parsed(text)
  const keys = memberOf(spec, 'keys')
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string'))
    throw new Failure(
      'bad-request',
      'Each of specs should be JSON text of {keys, minStep, maxStep, samples}.',
    )
  const number = (name: string) => {
    const value = memberOf(spec, name)
    return typeof value === 'number' ? value : null
  }
  const maxStep = number('maxStep')
  const range = { minStep: number('minStep'), maxStep: maxStep === null ? null : maxStep + 1 }
  return history.sampleOf(place, keys, range, samplesOf(number('samples')))
}

interface FilesAsked extends PageOf {
  readonly names?: readonly (string | null)[] | null
  readonly pattern?: string | null
}

const fileConnection = (
  caller: Caller,
  place: RunPlace,
  files: readonly RunFileStored[],
  { names, pattern, ...page }: FilesAsked,
) => {
  const named = new Set(names)
  const found = files
    .filter(({ path }) => (named.size === 0 || named.has(path)) && (pattern == null || isLike(path, pattern)))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  return connectionOf(
    caller,
    found,
    page,
    ({ path }) => path,
    (file) => fileOf(caller, place, file),
  )
}

/** Whether a text is like a pattern in which `%` is any text, as in SQL. */
const isLike = (text: string, pattern: string): boolean => {
  const [first = '', ...others] = pattern.split('%')
  const last = others.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const place = text.indexOf(part, at)
    if (place < 0) return false
    at = place + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

const fileOf = (caller: Caller, place: RunPlace, { path, blob, md5, size, stored_at }: RunFileStored) => {
  const directUrl = caller.links.read(place.project, blob, path)
  return {
    id: idOf('File', place.project, place.run, path),
    name: path,
    displayName: path,
    url: directUrl,
    directUrl,
    uploadHeaders: [],
    sizeBytes: size,
    updatedAt: stored_at,
    md5: Buffer.from(md5, 'hex').toString('base64'),
    digest: md5,
  }
}

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

export const upsertBucket = async (caller: Caller, input: UpsertBucketInput) => {
  const { services, principal, cause } = caller
  if (input.sweep != null && input.sweep !== '') throw new Failure('bad-request', 'Sweeps are not supported.')
  const [entityName, modelName, named] = input.id == null ? [] : runInId(input.id)
  const place = {
    name: modelName ?? (input.modelName || DEFAULT_PROJECT),
    entityName: entityName ?? input.entityName ?? null,
  }
  const run_id = named ?? (input.name || services.ids.next().replaceAll('-', '').slice(0, 8))
  if (!idCodec.is(run_id)) throw new Failure('bad-request', 'input.name should have 1 to 256 bytes.')
  if (input.displayName != null && !runName.is(input.displayName))
    throw new Failure('bad-request', 'input.displayName should have at most 256 bytes.')
  for (const member of ['config', 'summaryMetrics'] as const)
    if (input[member] != null && !isJsonObject(parsed(input[member])))
      throw new Failure('bad-request', `input.${member} should be JSON text of an object.`)
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
  return { bucket: await runNamed(caller, project_id, run_id), inserted }
}

/** Only the first request of a program says where it runs. */
const isBeginning = ({ id, host, jobProgram }: UpsertBucketInput): boolean =>
  id == null && (host != null || jobProgram != null)

const runInId = (id: string): readonly string[] => {
  const parts = partsOfId('Run', id)
  if (parts?.length !== 3) throw new Failure('not-found', 'Run not found in the project.')
  return parts
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
  caller.listing(input.files.length)
  return {
    runID: runId({ project, run }),
    uploadHeaders: [],
    files: input.files.map((path) => {
      if (path === '' || path.length > MAX_PATH || !path.isWellFormed())
        throw new Failure('bad-request', `A path should have 1 to ${MAX_PATH} characters.`)
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

import {
  projectDecider,
  projectStream,
  type Exception,
  type ProjectCommand,
  type ProjectState,
  type RecordLevel,
  type UsageReporting,
} from '../../domain/projects/project.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute, readState } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** What is recorded of a project as of now. Every project exists. */
export const projectNow = (ports: Pick<Ports, 'eventStore'>, project: string): Promise<ProjectState> =>
  readState(ports, projectDecider, projectStream(project))

interface ProjectSettings {
  readonly usage_reporting: UsageReporting | null
  readonly record: RecordLevel | null
  readonly cache_seconds: number | null
  readonly end_user_attribute: string | null
  readonly retention: {
    readonly content_days: number
    readonly except: readonly Exception[] | null
    readonly figures_days: number | null
  } | null
}

/** Null keeps a setting. */
export const changeSettings =
  (
    ports: Pick<Ports, 'eventStore' | 'ids'>,
    project_id: string,
    { usage_reporting, record, cache_seconds, end_user_attribute, retention }: ProjectSettings,
  ) =>
  (cause: Cause) => {
    const commands: ProjectCommand[] = []
    if (usage_reporting !== null) commands.push({ type: 'ChooseUsageReporting', project_id, usage_reporting })
    if (record !== null) commands.push({ type: 'ChooseRecording', project_id, record })
    if (cache_seconds !== null) commands.push({ type: 'ChooseCaching', project_id, cache_seconds })
    if (end_user_attribute !== null)
      commands.push({ type: 'ChooseEndUserAttribute', project_id, end_user_attribute })
    if (retention !== null) commands.push({ type: 'ChooseRetention', project_id, ...retention })
    return execute(ports)(projectDecider, projectStream(project_id), commands, cause)
  }

interface Named {
  readonly description: string | null
  readonly repo: string | null
  readonly created_at: Instant
}

/** Records once that a project was requested by name, and a description or repository that is given. */
export const nameProject = async (
  ports: Pick<Ports, 'eventStore' | 'ids'>,
  project_id: string,
  { description, repo, created_at }: Named,
  cause: Cause,
) => {
  const run = (command: ProjectCommand) =>
    execute(ports)(projectDecider, projectStream(project_id), [command], cause)
  const created = await run({ type: 'CreateProject', project_id, created_at })
  const { state, readableAt } = await run({ type: 'DescribeProject', project_id, description, repo })
  return { state, readableAt, isNew: created.position !== undefined }
}

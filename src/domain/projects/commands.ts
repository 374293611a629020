import type { Instant } from '../../kernel/codec/instant.js'
import type { RecordLevel, UsageReporting } from './events.js'

export interface ChooseUsageReporting {
  readonly type: 'ChooseUsageReporting'
  readonly project_id: string
  readonly usage_reporting: UsageReporting
}

export interface ChooseRecording {
  readonly type: 'ChooseRecording'
  readonly project_id: string
  readonly record: RecordLevel
}

export interface CreateProject {
  readonly type: 'CreateProject'
  readonly project_id: string
  readonly created_at: Instant
}

/** Null leaves the value unchanged. */
export interface DescribeProject {
  readonly type: 'DescribeProject'
  readonly project_id: string
  readonly description: string | null
  readonly repo: string | null
}

export type ProjectCommand = ChooseUsageReporting | ChooseRecording | CreateProject | DescribeProject

import type { Instant } from '../codec/instant.js'
import type { UsageReporting } from './events.js'

export interface ChooseUsageReporting {
  readonly type: 'ChooseUsageReporting'
  readonly project_id: string
  readonly usage_reporting: UsageReporting
}

export interface CreateProject {
  readonly type: 'CreateProject'
  readonly project_id: string
  readonly created_at: Instant
}

/** Null leaves what is there. */
export interface DescribeProject {
  readonly type: 'DescribeProject'
  readonly project_id: string
  readonly description: string | null
  readonly repo: string | null
}

export type ProjectCommand = ChooseUsageReporting | CreateProject | DescribeProject

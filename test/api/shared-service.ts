import { randomUUID } from 'node:crypto'
import { startTestService, type TestService } from '../support/service.js'

let started: Promise<TestService> | undefined

/**
 * One service for all tests of this process that need nothing of their own but a project. It ends with the process:
 * files that run side by side have no last test in common.
 */
export const sharedService = (): Promise<TestService> => (started ??= startTestService())

/** A project nobody else writes to, of a team that the administrator's first write makes. */
export const someProject = (): string => `team-${randomUUID().slice(0, 8)}/project`

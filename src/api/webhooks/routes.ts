import type { Services } from '../../application/services.js'
import type { ValidationPorts } from '../../application/webhooks/checks.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import type { AnyRoute } from '../server/route.js'
import { automationEventsRoute } from './automation-events.js'
import { createAutomation, listAutomations } from './automations-of-team.js'
import { changeAutomation, deleteAutomation, showAutomation } from './one-automation.js'
import { changeWebhook, deleteWebhook, releaseWebhook, showWebhook } from './one-webhook.js'
import { previewRoute } from './preview.js'
import { testRoutes } from './test-webhook.js'
import { webhookHoursRoute } from './webhook-hours.js'
import { createWebhook, listWebhooks, type RunExclusive } from './webhooks.js'

export const automationRoutes = (services: Services & ValidationPorts): readonly AnyRoute[] => {
  const mutex = new KeyedMutex()
  const runExclusive: RunExclusive = (task) => mutex.runExclusive('automations', task)
  return [
    createWebhook(services, runExclusive),
    listWebhooks(services),
    showWebhook(services),
    changeWebhook(services, runExclusive),
    deleteWebhook(services, runExclusive),
    releaseWebhook(services),
    webhookHoursRoute(services),
    ...testRoutes(services),
    automationEventsRoute(),
    previewRoute(services),
    createAutomation(services, runExclusive),
    listAutomations(services),
    showAutomation(services),
    changeAutomation(services, runExclusive),
    deleteAutomation(services, runExclusive),
  ]
}

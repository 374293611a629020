import type { Services } from '../../application/services.js'
import type { ValidationPorts } from '../../application/webhooks/checks.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import type { AnyRoute } from '../server/route.js'
import { automationEventsRoute } from './automation-events.js'
import { createAutomationRoute, listAutomations } from './automations-of-team.js'
import { changeAutomationRoute, deleteAutomationRoute, showAutomation } from './one-automation.js'
import { changeWebhookRoute, deleteWebhookRoute, releaseWebhookRoute, showWebhook } from './one-webhook.js'
import { previewRoute } from './preview.js'
import { testRoutes } from './test-webhook.js'
import { webhookHoursRoute } from './webhook-hours.js'
import { createWebhookRoute, listWebhooks, type RunExclusive } from './webhooks.js'

export const automationRoutes = (services: Services & ValidationPorts): readonly AnyRoute[] => {
  const mutex = new KeyedMutex()
  const runExclusive: RunExclusive = (task) => mutex.runExclusive('automations', task)
  return [
    createWebhookRoute(services, runExclusive),
    listWebhooks(services),
    showWebhook(services),
    changeWebhookRoute(services, runExclusive),
    deleteWebhookRoute(services, runExclusive),
    releaseWebhookRoute(services),
    webhookHoursRoute(services),
    ...testRoutes(services),
    automationEventsRoute(),
    previewRoute(services),
    createAutomationRoute(services, runExclusive),
    listAutomations(services),
    showAutomation(services),
    changeAutomationRoute(services, runExclusive),
    deleteAutomationRoute(services, runExclusive),
  ]
}

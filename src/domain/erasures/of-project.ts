import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { projectOfStream } from '../access/visible.js'

type Placed = Pick<RecordedEvent, 'stream' | 'type' | 'data'>

/**
 * Whether an event has content of a project: it is in one of its streams or names it, or is of an automation of the project,
 * a delivery about it, or a link to one of its artifact versions. Ask in log order.
 */
export const eventsOfProject = (project: string): ((event: Placed) => boolean) => {
  const linked = new Set<Json | undefined>()
  return ({ stream, type, data }) => {
    if (projectOfStream(stream) === project || data['project_id'] === project) return true
    const source = isJsonObject(data['source']) ? data['source'] : {}
    switch (type) {
      case 'VersionLinked':
        if (source['project_id'] !== project) return false
        linked.add(source['artifact_id'])
        return true
      case 'VersionDescribed':
        return linked.has(data['artifact_id'])
      case 'DeliveryScheduled':
        return typeof source['stream'] === 'string' && projectOfStream(source['stream']) === project
      case 'AutomationCreated':
      case 'AutomationChanged':
        return projectOfScope(data) === project
      default:
        return false
    }
  }
}

const projectOfScope = ({ scope, team }: Placed['data']): string | undefined => {
  if (!isJsonObject(scope) || scope['type'] !== 'project') return undefined
  const [entity, project] = [scope['entity'] ?? team, scope['project']]
  return typeof entity === 'string' && typeof project === 'string' ? `${entity}/${project}` : undefined
}

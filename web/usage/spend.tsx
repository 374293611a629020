import { useMemo } from 'react'
import { usePlace } from '../kit/place.js'
import { useTitle } from '../kit/title.js'
import { UsageView } from './usage-view.js'

const DIMENSIONS = ['model', 'project', 'user', 'key', 'op']

/** What the projects of a team spend. */
export const Spend = () => {
  const { team } = usePlace()
  const scope = useMemo(() => ({ team, project: '' }), [team])
  return <UsageView scope={scope} dimensions={DIMENSIONS} initialBy="project,model" />
}

export const SpendPage = () => {
  useTitle('Spend')
  return (
    <div className="page">
      <h1>Spend</h1>
      <Spend />
    </div>
  )
}

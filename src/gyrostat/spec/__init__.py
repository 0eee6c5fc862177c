"""What a robot is: entities with ports, connections, context, and the rules they obey. No mathematics.

Importing this package registers every kind of entity, so that files can name them.
"""

from gyrostat.spec import assembly as assembly
from gyrostat.spec import cam as cam
from gyrostat.spec import connecting_rod as connecting_rod
from gyrostat.spec import contact as contact
from gyrostat.spec import displacement as displacement
from gyrostat.spec import flexible_beam as flexible_beam
from gyrostat.spec import flexible_body as flexible_body
from gyrostat.spec import force_element as force_element
from gyrostat.spec import gear as gear
from gyrostat.spec import joint as joint
from gyrostat.spec import motor as motor
from gyrostat.spec import pair_forces as pair_forces
from gyrostat.spec import polynomial_coupling as polynomial_coupling
from gyrostat.spec import reference_frame as reference_frame
from gyrostat.spec import rigid_body as rigid_body
from gyrostat.spec import rolling as rolling
from gyrostat.spec import rotor as rotor
from gyrostat.spec import sensor as sensor
from gyrostat.spec import shaft_elements as shaft_elements

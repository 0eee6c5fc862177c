from setuptools import setup

NAME = "gyrostat_ros"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", ["launch/torques.launch.py"]),
    ],
    install_requires=["setuptools", "gyrostat"],
    zip_safe=True,
    maintainer="the gyrostat developers",
    description="Torques of a robot from its joint states, by gyrostat",
    license="Apache-2.0",
    entry_points={"console_scripts": [f"torques = {NAME}.node:main"]},
)
